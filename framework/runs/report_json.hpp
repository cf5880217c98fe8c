// All that a report or figure draws, as JSON: softalign export --what report. Names, states, groups, facts of records, curves and
// metrics by length with their means and deviations, tests, claims, plans, alignments.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/statistics.hpp"
#include "framework/base/json.hpp"

namespace softalign {

struct ReportOptions {
  std::string results;      // where runs are found by their id
  PairedTestOptions draws;  // with 0 resamples nothing is tested
  std::vector<Index>
      sentences;     // whose alignments are wanted; none: as many as a page has room for
  Index smooth = 1;  // updates that are one point of a curve of "train"
};

// places: runs, records, or folders above some; the folder of a sweep or a study gives its list too. Also files of alignments, and tables
// of sweeps. What cannot be read is among its problems.
JsonObject report_json(const std::vector<std::string>& places, const ReportOptions& options);

}  // namespace softalign
