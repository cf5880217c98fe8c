// What the launch tests share: a folder that goes away, the message of an expected error, and a
// study that is over in seconds.
#pragma once

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "framework/base/error.hpp"
#include "framework/launch/study.hpp"

namespace softalign::launch_test {

class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "softalign-XXXXXX").string()) {
    BOOST_REQUIRE(mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& str() const { return path_; }

 private:
  std::string path_;
};

// The message of the SpecError that `call` must throw; "accepted" when there is none.
template <class Call>
std::string refusal(const Call& call, const Folder& folder) {
  try {
    call();
  } catch (const SpecError& error) {
    std::string text = error.what();
    for (auto at = text.find(folder.str()); at != std::string::npos; at = text.find(folder.str()))
      text.erase(at, folder.str().size() + 1);
    return text;
  }
  return "accepted";
}

inline ResolvedSpec<Spec> resolve_spec(SpecTree tree) { return resolve<Spec>(std::move(tree)); }

// Two variants, two seeds; a second or two.
inline std::string write_study(const Folder& folder, const std::string& claims) {
  folder.write("base.yaml", R"(
task: {type: reverse, symbols: 4, length: {train: [1, 4], dev: [1, 4], test: [1, 8]},
       examples: {train: 60, dev: 8, test: 30}}
model:
  embedding: 8
  encoder: {type: gru, units: 8}
  attention: {type: global, score: {type: additive, units: 4}}
  decoder: {type: attentional_gru, units: 8}
train: {epochs: 4, shards: 2, batch: {sentences: 10}}
evaluate: {search: {type: greedy}, lengths: [2, 4, 6]}
record: {alignments: 4}
)");
  return folder.write("study.yaml", R"(
name: small
question: Does it run?
seeds: [1, 2]
variants:
  none: {model.attention: none}
  additive: [model.attention.score.units=5, model.embedding=9]
parts:
  reverse:
    base: base.yaml
    overrides: {train: {optimizer: {learning_rate: 0.02}}}
    report: {metrics: [token_accuracy, perplexity]}
claims:
)" + claims);
}

}  // namespace softalign::launch_test
