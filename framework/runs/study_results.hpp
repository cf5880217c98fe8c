// What the finished runs of a study say: metrics by length, and whether the claims hold. Numbers
// only; study_report.hpp writes them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/analysis/seeds.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/plan_study.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {

// Test results of every run that is complete, by part and variant, in the order of the seeds.
class StudyResults {
 public:
  // Reads the records of all wanted runs; those that have none yet are left out.
  explicit StudyResults(const StudyPlan& plan);

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
                                     const StudyPlan& plan,
                                     const StudyResults& results);

std::vector<JudgedClaim> judge(const Study& study, const StudyResults& results);

}  // namespace softalign
