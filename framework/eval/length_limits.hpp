// How long and how short a search's output may be.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "framework/config/options.hpp"

namespace softalign {

struct LengthLimits {
  double max_ratio = 2;
  Index max_extra = 10;
  std::optional<double> min_ratio = {};
  std::optional<std::string> ratio_of = {};

  // Among the options of a search.
  template <class V>
  void describe(V& v) {
    v("max_ratio",
      max_ratio,
      "longest output: max_ratio * source length + max_extra",
      positive_up_to(100));
    v("max_extra", max_extra, "see max_ratio", between(0, kLongestSentence));
    v("min_ratio",
      min_ratio,
      "no </s> before min_ratio * source length symbols, rounded down; GroundHog's is 0.5; null: 0",
      between(0, 100));
    v.check("min_ratio",
            min_ratio.value_or(0) <= max_ratio,
            "give at most max_ratio, or no sentence could end");
    v("ratio_of",
      ratio_of,
      "what the ratios count of a source: its symbols, which of an image are pixels, or its "
      "annotations; null: symbols",
      one_of("symbols", "annotations"));
  }

  // The length that the ratios count.
  Index length(Index symbols, Index annotations) const {
    return ratio_of == "annotations" ? annotations : symbols;
  }
  // Steps that a hypothesis may have at most, and symbols that it must have before </s>. Lengths of
  // sources are with </s>.
  Index most_steps(Index source) const {
    const auto ratio = static_cast<Index>(max_ratio * static_cast<double>(source));
    return std::max<Index>(1, ratio + max_extra);
  }
  Index least_symbols(Index source) const {
    return static_cast<Index>(min_ratio.value_or(0) * static_cast<double>(source));
  }
};

}  // namespace softalign
