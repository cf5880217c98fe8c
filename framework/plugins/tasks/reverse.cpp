// Task reverse: the target is the source from its last symbol to its first.
#include <numeric>

#include "framework/data/synthetic.hpp"

namespace softalign {
namespace {

std::vector<Index> last_first(std::span<const Token> source) {
  std::vector<Index> order(source.size());
  std::iota(order.rbegin(), order.rend(), Index{0});
  return order;
}

using Reverse = SyntheticTask<last_first>;

SOFTALIGN_TASK("reverse", Reverse, "random symbols, to be written backwards");

}  // namespace
}  // namespace softalign
