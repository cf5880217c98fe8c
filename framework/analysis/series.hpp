// Runs that somebody named, and the panels and series that figures and tables put them in.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/run.hpp"

namespace softalign {

// The runs that several arguments name, each of them RUN (find_run) or a folder above some: in their order, those of one folder by
// path, and each once. Their summaries are read, through the index where a folder has one. A run whose
// identity cannot be read has no configuration.
std::vector<Run> named_runs(const std::vector<std::string>& arguments, const std::string& results);

// Marks the twins among them.
void mark_twins(std::vector<Run>& runs);

// A panel for each test set and unit of length, called by the names of its runs, where there are several;
// a series for each configuration. A run that was not tested yet is in the panel of its task.
void place_by_test_set(std::vector<Run>& runs);

// The dev metric that all runs stop early by, else dev/loss.
std::string watched_metric(const std::vector<Run>& runs);

// Every series once, in the order of the runs.
std::vector<std::string> series_of(const std::vector<Run>& runs);
// The same, the best first: by the mean over seeds of a dev metric ("dev/loss"), never by the test set.
// planned: only complete runs count, and more of them come before fewer.
std::vector<std::string> ranked_series(const std::vector<Run>& runs,
                                       const std::string& metric,
                                       bool planned);

}  // namespace softalign
