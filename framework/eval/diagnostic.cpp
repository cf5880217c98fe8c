#include "framework/eval/diagnostic.hpp"

namespace softalign {

std::vector<Index> seen_sentences(const Split& split, Index count) {
  const std::span<const ExampleRow> rows = split.examples.rows();
  std::vector<Index> seen;
  for (Index at = 0; at < std::ssize(rows) && std::ssize(seen) < count; ++at)
    if (rows[usize(at)].target > 0) seen.push_back(at);
  return seen;
}

}  // namespace softalign
