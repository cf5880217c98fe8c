// What the finished runs of a study say: metrics by length, and whether the claims hold. Numbers
// only; study_report.hpp writes them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/seeds.hpp"
#include "framework/launch/study.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// Test results of every run that is complete, by part and variant, in the order of the seeds.
class StudyResults {
 public:
  // Reads the records of all runs; those that have none yet are left out.
  explicit StudyResults(const std::vector<StudyRun>& runs);

  // Empty when no run of the variant is complete.
  const std::vector<StoredResults>& of(const std::string& part, const std::string& variant) const;

 private:
  std::map<std::pair<std::string, std::string>, std::vector<StoredResults>> results_;
};

// A metric of a part: rows are variants (and baselines), columns "all" and the length buckets.
struct StudyTable {
  struct Row {
    std::string name;
    std::vector<Index> n;  // [columns] test sentences of the first seed
    std::vector<Seeds> values;
  };
  std::string part;
  std::string title;
  std::string metric;
  std::string units;  // "percent", "nats", "1"
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::vector<int> best;  // [columns] the one variant that is best; -1: there is no such
};

// One table for each metric that the study reports. Buckets are those of the runs' specs.
std::vector<StudyTable> study_tables(const Study& study,
                                     const std::vector<StudyRun>& runs,
                                     const StudyResults& results);

enum class Verdict {
  holds,
  fails,
  empty,       // no test sentence has a length that it speaks of
  unmeasured,  // sentences that it speaks of do not define the metric
  unknown      // a run that it speaks of is not complete, or not among those read
};

struct JudgedClaim {
  const StudyClaim* claim = nullptr;
  Verdict verdict = Verdict::unknown;
  Seeds left;  // what it compares
  Seeds right;
  Index sentences = 0;  // that the smallest of its measurements is over, first seed
  // Share of resamples of the test sentences in which the claim holds (paired bootstrap: variants
  // are resampled alike).
  double confidence = 0;
  std::string nothing;  // the measurement to blame when the verdict is empty or unmeasured

  bool judged() const { return verdict == Verdict::holds || verdict == Verdict::fails; }
  // A claim that is expected to hold, and does not.
  bool broken() const {
    return verdict != Verdict::holds && verdict != Verdict::unknown && !claim->open;
  }
};

std::vector<JudgedClaim> judge(const Study& study, const StudyResults& results);

}  // namespace softalign
