// What the data tests share: a folder that goes away, and the message of an expected error.
#pragma once

#include <stdlib.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

class Scratch {
 public:
  Scratch() : folder_((std::filesystem::temp_directory_path() / "softalign-XXXXXX").string()) {
    BOOST_REQUIRE(mkdtemp(folder_.data()) != nullptr);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  std::string write_gzip(const std::string& name, const std::string& bytes) const {
    write(name, bytes);
    BOOST_REQUIRE(std::system(("gzip -n '" + path(name) + "'").c_str()) == 0);
    return path(name + ".gz");
  }

 private:
  std::string folder_;
};

// The message of the E that `call` must throw.
template <class E, class F>
std::string message_of(F call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  BOOST_ERROR("nothing was thrown");
  return "";
}

inline bool operator==(const Link& a, const Link& b) {
  return a.source == b.source && a.target == b.target && a.sure == b.sure;
}

template <class T>
std::vector<T> vector_of(std::span<const T> view) {
  return {view.begin(), view.end()};
}

// A split whose example i has the given lengths; its tokens tell i and the position.
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

}  // namespace softalign
