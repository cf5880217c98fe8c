// From the names of runs to their comparison: which are read, which are left out and why, what is tested.
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
  std::string metrics;   // "bleu,dev/loss"; empty: the main ones of the test
  std::string baseline;  // as group_named; empty: the one without attention, or the first
  std::string lengths;   // "31-50"; empty: all
  bool tests = true;
  BootstrapOptions draws;
};

struct ComparedRuns {
  std::vector<Run> runs;  // to which the comparison points
  std::vector<LeftOut> left_out;
  Comparison comparison;
  BootstrapOptions draws;
  bool metrics_asked = false;  // no column is hidden
  bool too_many = false;       // groups to test them all unasked (kTestedUnasked)

  // Failed or data where runs that may belong into the comparison cannot be read, or are damaged.
  ExitCode code() const;
  JsonObject json() const;
  // Returns comparison_text, followed in text form by what is missing.
  std::string text(ComparisonForm form = {}) const;
  std::string left_out_text() const;  // a line a run that is left out

  ComparedRuns() = default;
  ComparedRuns(ComparedRuns&&) = default;
  ComparedRuns& operator=(ComparedRuns&&) = default;
};

// `places` and `results` as for named_runs. Runs that are not complete are left out. Throws SpecError for an
// option that fits no run, and MachineError or DataError where no run is left.
ComparedRuns compare_runs(const std::vector<std::string>& places,
                          const std::string& results,
                          const CompareOptions& options);

}  // namespace softalign
