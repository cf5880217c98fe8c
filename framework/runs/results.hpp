// Results of a list's finished runs: metrics by length and verdicts on the claims, also as JSON.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/runs/claims.hpp"
#include "framework/runs/list_status.hpp"
#include "framework/runs/plan.hpp"

namespace softalign {

// Complete runs with their test sentences, read on first use. The arguments must outlive it.
class ListResults {
 public:
  // wanted: the rows that are used for results of variants.
  ListResults(const RunList& list,
              const ListStatus& status,
              const std::vector<std::size_t>& wanted = {});

  // Returns runs ordered by seed: the complete runs of a variant; or all runs of the best configuration, once no row
  // remains. The best of some configurations is the first in the ranking, by dev, with all seeds complete; pruned
  // ones are skipped.
  const std::vector<Run>& of(const Measurement& m);
  const std::vector<Run>& of(const std::string& part, const std::string& variant);
  // Returns the configuration that a measurement of the best selects; empty if there is none.
  std::string best_text(const Measurement& m) const;
  // Returns whether all rows have ended, but the measured ones are not complete with all seeds.
  bool is_absent(const Measurement& m) const;
  const RunList& list() const { return list_; }

 private:
  std::vector<Index> rows_of(const Measurement& m) const;

  const RunList& list_;
  const ListStatus& status_;
  const std::vector<std::size_t>& wanted_;
  bool over_;
  std::map<std::string, std::vector<Run>> results_;  // by subject
};

// A table of a metric for a part: rows are variants and baselines.
struct StudyTable : LengthTable {
  std::string part;
  std::string title;
  std::vector<int> best;  // [buckets] the single best variant; -1: none
};

// Returns a table for each metric that the parts of a study report, with the buckets of the runs' specs.
std::vector<StudyTable> study_tables(const Sweep& sweep, const Plan& plan, ListResults& results);

// Returns the current file of a list; nothing if it does not exist any more.
std::optional<Sweep> file_of(const RunList& list);
// Returns the claims of the file about rows of parameters. Throws SpecError if the file is now of another sweep.
std::vector<StudyClaim> claims_of(const RunList& list, const std::optional<Sweep>& sweep);

std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims, ListResults& results);

struct SweepOutcome {
  std::vector<StudyTable> tables;
  std::vector<JudgedClaim> claims;
};

// Returns {"format": "softalign-study", "runs": [{"part", "variant", "seed", "run_id", "path", "state"}],
// "tables": [..], "claims": [..]}; paths are relative to the study's folder.
std::string study_json(const Sweep& sweep,
                       const RunList& list,
                       const std::vector<std::size_t>& rows,
                       const SweepOutcome& outcome);
// Returns whether a file contains such JSON.
bool is_study_json(const std::filesystem::path& file);

}  // namespace softalign
