// Which of a sweep's parameters matter: least squares of a metric on the parameters' main effects and pairs, and
// the share of the variance between runs that each of them explains beside all other main effects (the partial sum
// of squares of an analysis of variance, by the whole).
//
// A parameter is a factor with a level for each of its values; one of more than four numbers is a parabola, of the
// logarithm where they are positive and span a decade. Not to be set is a value, too; but of an option that only some
// plugins have (a score), what differs between having it and not is the plugin's, and there is no pair of the two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/differences.hpp"
#include "framework/base/types.hpp"

namespace softalign {

struct Effect {
  std::vector<std::string> parameters;  // the path of one, or of a pair
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
  std::vector<Effect> effects;  // parameters, then pairs; each the largest first

  template <class V>
  void describe(V& v) {
    v("runs", runs);
    v("explained", explained);
    v("effects", effects);
  }
};

// settings: [runs] the parameters of each, without the seed; values: [runs] the metric. Pairs are left out where
// there are not twice as many runs as they have levels; nothing for fewer than two parameters, where runs do not
// differ in the metric, or where there are not twice as many as all main effects have levels.
std::optional<Importance> importance_of(const std::vector<Difference>& settings,
                                        const std::vector<double>& values);

}  // namespace softalign
