#include "framework/eval/attention_diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"

namespace softalign {

double entropy(std::span<const real> weights) {
  const auto w = xt::cast<double>(xt::adapt(weights.data(),
                                            weights.size(),
                                            xt::no_ownership(),
                                            std::array<std::size_t, 1>{weights.size()}));
  const xt::xtensor<double, 1> terms = xt::where(w > 0, w * xt::log(w), 0.0);
  return 0.0 - xt::sum(terms, xt::evaluation_strategy::immediate)();
}

Index points_at(std::span<const real> weights) {
  if (weights.empty()) throw BugError("points_at of an empty row");
  const auto largest = std::max_element(weights.begin(), weights.end());
  if (*largest <= 0 || std::count(weights.begin(), weights.end(), *largest) > 1) return -1;
  return largest - weights.begin();
}

Count point_count(const std::vector<Index>& pointed, std::span<const Link> links) {
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
