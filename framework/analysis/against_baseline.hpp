// The groups of a comparison against one of them: the part of comparison.hpp that tests.
#pragma once

#include <set>

#include "framework/analysis/comparison.hpp"

namespace softalign {

// The group that a person means by its number from 1, its parameters ("score=dot units=8"), the value
// of one ("none"), or the beginning of a run's id or a run's name. Throws SpecError unless exactly one matches.
std::size_t group_named(const std::vector<ComparedGroup>& groups, const std::string& given);

// Those that have a run of the same seed on the other side.
std::set<const Run*> paired_runs(const Comparison& comparison);

// Every group but comparison.baseline in every column that both have. One pair of runs has no p, which
// would be taken for the models' and is that of two trained ones.
std::vector<AgainstBaseline> against_baseline(const Comparison& comparison,
                                              const PairedTestOptions& draws = {});

}  // namespace softalign
