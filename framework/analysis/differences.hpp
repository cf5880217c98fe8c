// The options in which runs differ, by their identities.
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

// For each run the options whose values are not the same in all of them. identities: their
// canonical JSON; one that cannot be read counts for nothing and differs in nothing.
std::vector<Difference> differences(const std::vector<std::string>& identities);

// Returns the value of every option of an identity, by path, as written there. Throws DataError if
// the text is not a JSON object.
std::map<std::string, std::string> options_of(const std::string& identity);

// Returns a short, unique name for each path: as few of its last words as possible; a plugin's type has the
// plugin's name ("score" is model.attention.score.type).
std::map<std::string, std::string> short_names(const std::set<std::string>& paths);
std::map<std::string, std::string> short_names(const std::vector<Difference>& all);  // of all paths

// The parts that stand for their plugins: the score, where all runs that have one have the usual attention.
std::set<std::string> naming_parts(const std::vector<std::string>& identities);  // paths

// A name for each of several runs, as legends have it: "dot, units 64". Plugins stand by their names alone, each
// before those of its parts that differ: "mocha dot"; of a part that stands for its plugin (naming_parts) only the
// part.
std::vector<std::string> legend_names(const std::vector<std::string>& identities);

// "seed=2 epochs=40", by the short names of all paths.
std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names);

}  // namespace softalign
