// Shared by the data tests: packed files, comparison of links, splits of given lengths, and tasks with options.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

namespace softalign {

using namespace test;

inline std::string write_gzip(const Scratch& scratch,
                              const std::string& name,
                              const std::string& bytes) {
  const std::string file = scratch.write(name, bytes);
  BOOST_REQUIRE(std::system(("gzip -n '" + file + "'").c_str()) == 0);
  return file + ".gz";
}

inline bool operator==(const Link& a, const Link& b) {
  return a.source == b.source && a.target == b.target && a.sure == b.sure;
}

template <class T>
std::vector<T> vector_of(std::span<const T> view) {
  return {view.begin(), view.end()};
}

// A split whose example i has the given lengths; its tokens encode i and the position.
inline Split split_of(const std::vector<std::pair<Index, Index>>& lengths) {
  Split split;
  for (const auto& [source, target] : lengths) {
    const auto first = static_cast<Token>(kSpecials + 100 * std::ssize(split.examples));
    std::vector<Token> sources, targets;
    for (Token k = 0; k < source; ++k) sources.push_back(first + k);
    for (Token k = 0; k < target; ++k) targets.push_back(first + 50 + k);
    split.examples.append({.source = sources, .target = targets});
  }
  return split;
}

// The part of a spec that these tests use.
struct WithTask {
  Choice task{.kind = "task"};
  void describe(OptionVisitor& v) { v("task", task, "where sentences come from"); }
};

// A task of this type, with option values by name.
inline std::unique_ptr<Task> task_with(const std::string& type,
                                       const std::map<std::string, std::string>& values) {
  std::vector<std::string> overrides;
  for (const auto& [name, value] : values) overrides.push_back("task." + name + "=" + value);
  return make_plugin<TaskKind>(
      parse_spec<WithTask>("task: {type: " + type + "}", "x.yaml", overrides).spec.task);
}

}  // namespace softalign
