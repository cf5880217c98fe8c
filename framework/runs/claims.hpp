// Verdicts on the claims of a study or a sweep, by the test results of its finished runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/analysis/run.hpp"
#include "framework/analysis/statistics.hpp"
#include "framework/base/json.hpp"
#include "framework/study/claim.hpp"

namespace softalign {

enum class Verdict {
  holds,
  fails,
  undecided,   // the evidence supports neither
  empty,       // no test sentence has one of its lengths
  unmeasured,  // its sentences do not define the metric
  absent,      // all rows have ended, and its rows are not complete with all seeds
  unknown      // one of its runs is not complete yet, or was not read
};

struct JudgedClaim {
  const StudyClaim* claim = nullptr;
  Verdict verdict = Verdict::unknown;
  Seeds left;  // the sides that it compares
  Seeds right;
  Seeds difference;               // left - right
  Index seeds = 0;                // number of seeds for which it holds
  Index sentences = 0;            // of its smallest measurement, in any seed
  Estimate estimate;              // of the difference; both sides have the same test sentences
  double p_holm = kUndefined;     // p corrected for all claims of the file; NaN: unknown
  std::vector<std::string> best;  // of a sweep: the configuration of each measurement
  std::string nothing;  // empty: the measurement without sentences; unmeasured: the reason

  bool judged() const {
    return verdict == Verdict::holds || verdict == Verdict::fails || verdict == Verdict::undecided;
  }
  // Returns whether the means of both sides agree with the claim.
  bool agrees() const { return claim->statement.holds(left.mean, right.mean); }
  // Returns whether the claim is expected to hold, but was not found to.
  bool broken() const {
    return verdict != Verdict::holds && verdict != Verdict::unknown && !claim->open;
  }
};

// Returns the runs of a measurement with their sentences, ordered by seed; empty if they are not complete.
using Measured = std::function<const std::vector<Run>&(const Measurement&)>;

// Throws SpecError for an unknown metric or diagnostic. Call it after all plugins are loaded.
void check_metric(const std::string& name, const Position& where);

// The claims must outlive the result.
std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims,
                               std::size_t seeds,
                               const Measured& measured);
bool broken(const std::vector<JudgedClaim>& claims);

// Returns the judged claims with their numbers, then the number of the others.
std::string claims_text(const std::vector<JudgedClaim>& claims);
JsonObject claims_json(const std::vector<JudgedClaim>& claims);
JsonObject json_of(const Seeds& seeds);
std::string number_text(const Seeds& seeds,
                        int decimals = 2);  // "21.50 ±0.30"; "-" for NaN

}  // namespace softalign
