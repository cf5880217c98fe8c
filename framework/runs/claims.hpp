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
  undecided,   // what was measured supports neither
  empty,       // no test sentence has a length that it speaks of
  unmeasured,  // sentences that it speaks of do not define the metric
  absent,      // every row is over, and none that it speaks of is complete with all seeds
  unknown      // a run that it speaks of is not complete, or not among those read
};

struct JudgedClaim {
  const StudyClaim* claim = nullptr;
  Verdict verdict = Verdict::unknown;
  Seeds left;  // what it compares
  Seeds right;
  Seeds difference;            // left - right, of each seed
  Index seeds = 0;             // of which it holds
  Index sentences = 0;         // that the smallest of its measurements is over in any seed
  Estimate estimate;           // of the difference; variants are tested on the same sentences
  double p_holm = kUndefined;  // its p, corrected for all claims of the file; NaN if there is none
  std::vector<std::string> best;  // of a sweep: which configuration each measurement means
  std::string nothing;  // the measurement to blame when the verdict is empty; why it is unmeasured

  bool judged() const {
    return verdict == Verdict::holds || verdict == Verdict::fails || verdict == Verdict::undecided;
  }
  // Returns whether both means, taken as they are, agree with the claim.
  bool agrees() const { return claim->statement.holds(left.mean, right.mean); }
  // A claim that is expected to hold, and is not seen to.
  bool broken() const {
    return verdict != Verdict::holds && verdict != Verdict::unknown && !claim->open;
  }
};

// The runs that a measurement is of, with their sentences, in the order of the seeds; empty: not complete.
using Measured = std::function<const std::vector<Run>&(const Measurement&)>;

// Checks that there is such a metric, once all plugins are loaded. Throws SpecError.
void check_metric(const std::string& name, const Position& where);

// The claims must outlive the result.
std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims,
                               std::size_t seeds,
                               const Measured& measured);
bool broken(const std::vector<JudgedClaim>& claims);

// Each claim that could be judged with its number, then how many could not.
std::string claims_text(const std::vector<JudgedClaim>& claims);
JsonObject claims_json(const std::vector<JudgedClaim>& claims);
JsonObject json_of(const Seeds& seeds);
std::string number_text(const Seeds& seeds,
                        int decimals = 2);  // "21.50 ±0.30", "-" for no number

}  // namespace softalign
