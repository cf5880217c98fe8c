// Task sort: the target is the source with its symbols in the order of the vocabulary. Equal
// symbols keep their order, so that the alignment is unique.
#include <algorithm>
#include <numeric>

#include "framework/base/types.hpp"
#include "framework/data/synthetic.hpp"

namespace softalign {
namespace {

std::vector<Index> smallest_first(std::span<const Token> source) {
  std::vector<Index> order(source.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [source](Index a, Index b) {
    return source[usize(a)] < source[usize(b)];
  });
  return order;
}

using Sort = SyntheticTask<smallest_first>;

SOFTALIGN_TASK("sort", Sort, "random symbols, to be written in the order of the vocabulary");

}  // namespace
}  // namespace softalign
