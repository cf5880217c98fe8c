#include "framework/eval/attention_diagnostics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "framework/base/error.hpp"

namespace softalign {

double entropy(std::span<const real> weights) {
  double sum = 0;
  for (const real weight : weights) {
    const double w = static_cast<double>(weight);
    if (w > 0) sum -= w * std::log(w);
  }
  return sum;
}

Index argmax(std::span<const real> values) {
  if (values.empty()) throw BugError("argmax of an empty row");
  return std::max_element(values.begin(), values.end()) - values.begin();
}

Count point_count(const std::vector<Index>& pointed, const std::vector<Link>& links) {
  std::vector<bool> linked(pointed.size()), hit(pointed.size());
  for (const Link& link : links) {
    if (link.target < 0 || link.target >= static_cast<Index>(pointed.size())) {
      throw BugError("a link to target token {} of {}", link.target, pointed.size());
    }
    if (!link.sure) continue;
    const auto j = static_cast<std::size_t>(link.target);
    linked[j] = true;
    if (pointed[j] == link.source) hit[j] = true;
  }
  return {std::count(hit.begin(), hit.end(), true), std::count(linked.begin(), linked.end(), true)};
}

}  // namespace softalign
