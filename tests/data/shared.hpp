// What the data tests share: packed files, links that compare, splits of given lengths.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
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
