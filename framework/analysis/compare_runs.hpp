// Compares runs given by name: reads them, leaves out those that cannot be compared, with reasons, and tests the rest.
#pragma once

#include <string>
#include <vector>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/comparison_text.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json.hpp"

namespace softalign {

struct CompareOptions {
  std::string metrics;   // "bleu,dev/loss"; empty: the main metrics of the test
  std::string baseline;  // as group_named; empty: the first group without attention, or the first
  std::string lengths;   // "31-50"; empty: all
  bool tests = true;
  BootstrapOptions draws;
};

struct ComparedRuns {
  std::vector<Run> runs;  // the comparison points to them
  std::vector<LeftOut> left_out;
  Comparison comparison;
  BootstrapOptions draws;
  bool metrics_asked = false;  // the metrics were requested, so no column is hidden
  bool too_many = false;       // more groups than are tested by default (kTestedUnasked)

  // Returns `failed` if runs that may belong to the comparison cannot be read, `data` if such runs are damaged.
  ExitCode code() const;
  JsonObject json() const;
  // Returns comparison_text(); in text format also the number of missing runs.
  std::string text(ComparisonForm form = {}) const;
  std::string left_out_text() const;  // a line for each run that is left out, up to a limit

  ComparedRuns() = default;
  ComparedRuns(ComparedRuns&&) = default;
  ComparedRuns& operator=(ComparedRuns&&) = default;
};

// `places` and `results` as in named_runs. Incomplete runs are left out. Throws SpecError for an option that fits no
// run, and Error with `failed` or `data` if no run remains.
ComparedRuns compare_runs(const std::vector<std::string>& places,
                          const std::string& results,
                          const CompareOptions& options);

}  // namespace softalign
