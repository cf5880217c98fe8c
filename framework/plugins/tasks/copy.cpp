// Task copy: the target is the source, and the alignment is the diagonal, the easiest one.
#include <numeric>

#include "framework/data/synthetic.hpp"

namespace softalign {
namespace {

std::vector<Index> same_order(std::span<const Token> source) {
  std::vector<Index> order(source.size());
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

using Copy = SyntheticTask<same_order>;

SOFTALIGN_TASK("copy", Copy, "random symbols, to be written as they are");

}  // namespace
}  // namespace softalign
