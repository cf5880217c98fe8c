// How long and how short a search's output may be.
#pragma once

#include <optional>

#include "framework/config/options.hpp"

namespace softalign {

struct LengthLimits {
  double max_ratio = 2;
  Index max_extra = 10;
  std::optional<double> min_ratio = {};

  // Among the options of a search.
  template <class V>
  void describe(V& v) {
    v("max_ratio",
      max_ratio,
      "longest output: max_ratio * source length + max_extra",
      positive_up_to(100));
    v("max_extra", max_extra, "see max_ratio", between(1, kLongestSentence));
    v("min_ratio",
      min_ratio,
      "no </s> before min_ratio * source length symbols, rounded down; GroundHog's is 0.5; null: 0",
      between(0, 100));
    v.check("min_ratio",
            min_ratio.value_or(0) <= max_ratio,
            "give at most max_ratio, or no sentence could end");
  }

  // Steps that a hypothesis may have at most, and symbols that it must have before </s>. Lengths of
  // sources are with </s>.
  Index most_steps(Index source) const {
    return static_cast<Index>(max_ratio * static_cast<double>(source)) + max_extra;
  }
  Index least_symbols(Index source) const {
    return static_cast<Index>(min_ratio.value_or(0) * static_cast<double>(source));
  }
};

}  // namespace softalign
