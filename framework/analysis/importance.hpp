// The importance of a sweep's parameters: least squares of a metric on the parameters' main effects and pairwise
// interactions, and the share of the variance between runs that each of them explains in addition to all other main
// effects (the partial sum of squares of an analysis of variance, divided by the total).
//
// A parameter is a factor with a level for each of its values; with more than four numeric values it is a parabola, in
// the logarithm if they are positive and span a decade. "Not set" is a value, too, except for an option that only some
// plugins have (a score): whether it is set is then an effect of the plugin, and the two have no interaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/base/types.hpp"

namespace softalign {

struct Effect {
  std::vector<std::string> parameters;  // the path of one parameter, or the two of a pair
  double share = 0;                     // of the variance, 0 to 1

  template <class V>
  void describe(V& v) {
    v("parameters", parameters);
    v("share", share);
  }
};

struct Importance {
  Index runs = 0;
  double explained = 0;         // by all main effects together
  std::vector<Effect> effects;  // parameters, then pairs; each with the largest first

  template <class V>
  void describe(V& v) {
    v("runs", runs);
    v("explained", explained);
    v("effects", effects);
  }
};

// settings: [runs] parameters, a seed is ignored; values: [runs] the metric. Returns nothing for fewer than two
// parameters, if the metric is equal in all runs, or with fewer than two runs per coefficient of the main effects. A
// pair is skipped if there are fewer than two runs per coefficient of the main effects and the pair.
std::optional<Importance> importance_of(const std::vector<Difference>& settings,
                                        const std::vector<double>& values);

}  // namespace softalign
