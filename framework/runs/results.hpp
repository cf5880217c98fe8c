// Results of a list's finished runs: metrics by length, and verdicts on the claims; as JSON, too.
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

// Complete runs with their test sentences, read when they are first asked for. The arguments must outlive it.
class ListResults {
 public:
  // wanted: the rows that results of variants are of.
  ListResults(const RunList& list,
              const ListStatus& status,
              const std::vector<std::size_t>& wanted = {});

  // Runs in the order of the seeds: of a variant its complete runs, of the best configuration all, once no
  // row is left to do. The best of some configurations is the first of them in the ranking, which dev has made,
  // with all seeds complete; pruned ones are skipped.
  const std::vector<Run>& of(const Measurement& m);
  const std::vector<Run>& of(const std::string& part, const std::string& variant);
  // Returns the configuration that a measurement of the best selects; empty if there is none.
  std::string best_text(const Measurement& m) const;
  // Returns whether every row is over, but what is measured is not complete with all seeds.
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

// A metric of a part: rows are variants (and baselines).
struct StudyTable : LengthTable {
  std::string part;
  std::string title;
  std::vector<int> best;  // [buckets] the one best variant; -1: none
};

// One table for each metric that the parts of a study report. Buckets are those of the runs' specs.
std::vector<StudyTable> study_tables(const Sweep& sweep, const Plan& plan, ListResults& results);

// The file of a list, as it is now; nothing where it is gone.
std::optional<Sweep> file_of(const RunList& list);
// The claims of the file about rows of parameters. Throws SpecError for a file that is not the sweep's any
// more.
std::vector<StudyClaim> claims_of(const RunList& list, const std::optional<Sweep>& sweep);

std::vector<JudgedClaim> judge(const std::vector<StudyClaim>& claims, ListResults& results);

struct SweepOutcome {
  std::vector<StudyTable> tables;
  std::vector<JudgedClaim> claims;
};

// {"format": "softalign-study", "runs": [{"part", "variant", "seed", "run_id", "path", "state"}],
// "tables": [..], "claims": [..]}; paths are relative to the study's folder.
std::string study_json(const Sweep& sweep,
                       const RunList& list,
                       const std::vector<std::size_t>& rows,
                       const SweepOutcome& outcome);
// Returns whether a file holds such JSON.
bool is_study_json(const std::filesystem::path& file);

}  // namespace softalign
