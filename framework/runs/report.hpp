// A report: the runs that some paths name, their lists and their comparison; and the data of its page as JSON.
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
  std::string study;  // the text of study.json if it is valid JSON; else empty
  std::vector<Run> runs;
  std::vector<std::string> series;  // in the order of the study, otherwise best first
  std::string ranked_by;            // the dev metric of that order
  DetailedSeries detailed;          // whose records are read
  std::vector<Panel> panels;
  std::vector<LeftOut> problems;
  // The sweeps and studies of a report about several paths, without their runs, which belong to the report. Each has a
  // complete report of its own.
  std::vector<Report> parts;
};

// places: the paths that were given. The folder of a sweep or a study also gives its list. With draws.resamples 0 there
// are no tests and no intervals.
Report make_report(const std::vector<std::string>& places,
                   const std::string& results,
                   const BootstrapOptions& draws);

struct ReportOptions {
  std::string results;           // folder in which runs are found by their ID
  BootstrapOptions draws;        // with 0 resamples there are no tests
  std::vector<Index> sentences;  // whose alignments are included; empty: all that fit
  Index smooth = 1;              // updates per point of a curve of "train"
};

// Returns all data of reports and figures (softalign export --what report): names, states, groups, facts of records,
// curves and metrics by length with means and deviations, tests, claims, plans, alignments. places: runs, records, or
// folders above them; files of alignments; tables of sweeps. The folder of a sweep or a study also gives its list.
// Paths that cannot be read are among the report's problems.
JsonObject report_json(const std::vector<std::string>& places, const ReportOptions& options);

}  // namespace softalign
