// The options in which runs differ, by their identities, and which of these parameters matter.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Option paths ("train.epochs") and values, the seed first.
using Difference = std::vector<std::pair<std::string, std::string>>;

// For each run the options whose values are not the same in all of them. identities: their
// canonical JSON; one that cannot be read counts for nothing and differs in nothing.
std::vector<Difference> differences(const std::vector<std::string>& identities);

// Every option of an identity with its value as it stands there, by path. Throws DataError when
// the text is no JSON object.
std::map<std::string, std::string> options_of(const std::string& identity);

// A short name for each path, for people: as few of its last words as tell it from the others; a plugin's name
// stands for the plugin ("score" is model.attention.score.type).
std::map<std::string, std::string> short_names(const std::set<std::string>& paths);
std::map<std::string, std::string> short_names(const std::vector<Difference>& all);  // of all paths

// A name for each of several runs, as legends have it: "dot, units 64". Plugins stand by their names
// alone, and one that has a part of its own says no more than that part, where that tells all apart.
std::vector<std::string> legend_names(const std::vector<std::string>& identities);

// "seed=2 epochs=40", by the short names of all paths.
std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names);

// Which of a sweep's parameters matter: least squares of a metric on the parameters' main effects and pairs, and
// the share of the variance between runs that each of them explains beside all other main effects (the partial sum
// of squares of an analysis of variance, by the whole).
//
// A parameter is a factor with a level for each of its values; one of more than four numbers is a parabola, of the
// logarithm where they are positive and span a decade.

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
