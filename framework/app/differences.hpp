// In what runs of one name differ, for people who look at a list of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace softalign::app {

// Option paths ("train.epochs") and values, the seed first.
using Difference = std::vector<std::pair<std::string, std::string>>;

// For each run the options whose values are not the same in all of them. identities: their
// canonical JSON; one that cannot be read counts for nothing and differs in nothing.
std::vector<Difference> differences(const std::vector<std::string>& identities);

// "seed=2 epochs=40": each path by as few of its last words as tell it from the others in `all`.
std::string difference_text(const Difference& difference, const std::vector<Difference>& all);

}  // namespace softalign::app
