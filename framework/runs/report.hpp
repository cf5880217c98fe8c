// A report: the runs that some paths name, the lists they belong to, and how they compare; and as JSON all that
// a page draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/json.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {

struct Report {
  std::string place;  // of a part: its folder
  std::string kind;   // run, runs, study, sweep
  std::string name;   // of the list
  std::optional<RunList> list;
  std::optional<ListStatus> status;
  std::string study;  // study.json, which can be read as JSON; empty: none
  std::vector<Run> runs;
  std::vector<std::string> series;  // those of a study as it has them, others the best first
  std::string ranked_by;            // the dev metric of that order
  DetailedSeries detailed;          // whose records are read
  std::vector<Panel> panels;
  std::vector<LeftOut> problems;
  // The sweeps and studies of a report about several paths, without their runs, which are among the report's:
  // the whole of each is in its own report.
  std::vector<Report> parts;
};

// places: paths that were named. The folder of a sweep or a study gives its list too. Nothing is tested where
// draws.resamples is 0, and intervals are not known.
Report make_report(const std::vector<std::string>& places,
                   const std::string& results,
                   const BootstrapOptions& draws);

struct ReportOptions {
  std::string results;     // where runs are found by their id
  BootstrapOptions draws;  // with 0 resamples nothing is tested
  std::vector<Index>
      sentences;     // whose alignments are wanted; none: as many as a page has room for
  Index smooth = 1;  // updates that are one point of a curve of "train"
};

// All that a report or figure draws (softalign export --what report): names, states, groups, facts of records,
// curves and metrics by length with their means and deviations, tests, claims, plans, alignments. places: runs,
// records, or folders above some; files of alignments; tables of sweeps; the folder of a sweep or a study gives
// its list too. What cannot be read is among its problems.
JsonObject report_json(const std::vector<std::string>& places, const ReportOptions& options);

}  // namespace softalign
