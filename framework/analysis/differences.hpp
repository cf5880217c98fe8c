// The options in which runs differ, computed from their identities.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Option paths ("train.epochs") and values, the seed first.
using Difference = std::vector<std::pair<std::string, std::string>>;

// The end of a plugin's path: "model.attention.score.type" is the score.
inline constexpr std::string_view kType = ".type";

// Returns for each run the options whose values are not the same in all runs. identities: canonical
// JSON; an unreadable one is ignored and has no differences.
std::vector<Difference> differences(const std::vector<std::string>& identities);

// Returns the value of every option of an identity, by path, as written there. Throws DataError if
// the text is not a JSON object.
std::map<std::string, std::string> options_of(const std::string& identity);

// Returns a short, unique name for each path, with as few of its last components as possible. The type of a plugin is
// named after its block ("score" is model.attention.score.type).
std::map<std::string, std::string> short_names(const std::set<std::string>& paths);
std::map<std::string, std::string> short_names(const std::vector<Difference>& all);  // of all paths

// Returns the paths of the parts that are shown in place of the plugin around them: the score, if all runs with a score
// have the default attention.
std::set<std::string> naming_parts(const std::vector<std::string>& identities);

// Returns a legend name for each run: "dot, units 64". Plugins are shown by name only, each followed by those of its
// parts that differ: "mocha dot". A part in naming_parts() replaces the plugin around it.
std::vector<std::string> legend_names(const std::vector<std::string>& identities);

// Returns "seed=2 epochs=40", with the short names of all paths.
std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names);

}  // namespace softalign
