// In what runs differ, by their identities: for people who look at a list of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace softalign {

// Option paths ("train.epochs") and values, the seed first.
using Difference = std::vector<std::pair<std::string, std::string>>;

// For each run the options whose values are not the same in all of them. identities: their
// canonical JSON; one that cannot be read counts for nothing and differs in nothing.
std::vector<Difference> differences(const std::vector<std::string>& identities);

// Every option of an identity with its value as it stands there, by path. Throws DataError when
// the text is no JSON object.
std::map<std::string, std::string> options_of(const std::string& identity);

// What each path is called where people read it: as few of its last words as tell it from the
// others; a plugin's name stands for the plugin ("score" is model.attention.score.type).
std::map<std::string, std::string> short_names(const std::set<std::string>& paths);
std::map<std::string, std::string> short_names(const std::vector<Difference>& all);  // of all paths

// A name for each of several runs, as legends have it: "dot, units 64". Plugins stand by their names
// alone, and one that has a part of its own says no more than that part, where that tells all apart.
std::vector<std::string> legend_names(const std::vector<std::string>& identities);

// "seed=2 epochs=40", by the short names of all paths.
std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names);

}  // namespace softalign
