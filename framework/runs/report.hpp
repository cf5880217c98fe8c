// What a report is about: the runs of some places, what list they belong to, and how they compare.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
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
  std::vector<Panel> panels;
  std::vector<LeftOut> problems;
  // The sweeps and studies that a report about several places is about, without their runs, which are among the report's: they are not
  // of one piece, and the whole of each is in its own report.
  std::vector<Report> parts;
};

// places: what was named; runs: those that lie there. The folder of a sweep or a study gives its list
// too. Nothing is tested where draws.resamples is 0, and intervals are not known.
Report make_report(const std::vector<std::string>& places,
                   const std::string& results,
                   const PairedTestOptions& draws);

}  // namespace softalign
