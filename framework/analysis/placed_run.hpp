// Runs that somebody named, each with its place in tables and figures.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/analysis/run_summary.hpp"

namespace softalign {

struct GivenRun {
  std::filesystem::path place;  // its folder, or a record that lies alone
  Index argument = 0;           // which argument of a command line named it, from 0
};

// What is known of each of them. folders: those above some of the runs, whose index is asked; others,
// which may be files, are passed over.
std::vector<RunSummary> summaries_of(const std::vector<GivenRun>& runs,
                                     const std::vector<std::string>& folders);

// Runs of a panel share a figure, those of a series differ in nothing but the seed.
struct PlacedRun {
  GivenRun given;
  RunSummary summary;
  std::string configuration;  // empty: its identity cannot be read
  Index seed = 0;
  std::string panel, series;
  bool twin = false;  // it lies in two folders, and the other one is complete or stands before it
};

// Without a panel or a series yet.
std::vector<PlacedRun> placed_runs(const std::vector<GivenRun>& runs,
                                   const std::vector<std::string>& folders);

// A panel for each test set and unit of length, called by the names of its runs, where there are several;
// a series for each configuration. A run that was not tested yet is in the panel of its task.
void place_by_test_set(std::vector<PlacedRun>& runs);

// The dev metric that all runs stop early by, else dev/loss.
std::string watched_metric(const std::vector<PlacedRun>& runs);

// Every series once, in the order of the runs.
std::vector<std::string> series_of(const std::vector<PlacedRun>& runs);
// The same, the best first: by the mean over seeds of a dev metric ("dev/loss"), never by the test set.
// planned: only complete runs count, and more of them come before fewer.
std::vector<std::string> ranked_series(const std::vector<PlacedRun>& runs,
                                       const std::string& metric,
                                       bool planned);

}  // namespace softalign
