// A study becomes a list of runs: parts, variants, seeds, the last fastest.
#pragma once

#include <string>
#include <vector>

#include "framework/runs/run_list.hpp"
#include "framework/study/study.hpp"

namespace softalign {

struct StudyPlan {
  RunList list;                     // rows that were planned before, then what is new
  std::vector<std::size_t> wanted;  // of them those that the study has now, in its order
  std::map<std::string, std::vector<Index>> lengths;  // evaluate.lengths, by part

  // Of those wanted the ones whose "part/variant" fits the shell pattern; all for "".
  std::vector<std::size_t> chosen(const std::string& pattern) const;
};

// Every run of the study's parts that have a variant chosen by `pattern`. Their specs are read and
// checked, the other parts' are not touched; `overrides` come last. Nothing is written. Throws
// SpecError, also when two runs would be the same, a metric is unknown or nothing is chosen, DataError
// for data files that are missing.
StudyPlan plan_study(const Study& study,
                     const std::vector<Override>& overrides,
                     const std::filesystem::path& results,
                     const LoadSpec& load,
                     const std::string& pattern = "");

}  // namespace softalign
