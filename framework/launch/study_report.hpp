// A study's outcome in words for a terminal, and as JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/launch/study_results.hpp"

namespace softalign {

struct StudyOutcome {
  std::vector<StudyTable> tables;
  std::vector<JudgedClaim> claims;
  Index in_use = 0;  // runs that another process works on: not complete yet

  bool broken() const;  // a claim that is expected to hold does not
};

// One line a run: number, name, seed, run id, state.
std::string plan_text(const std::vector<StudyRun>& runs);

// Variants in rows, lengths that have sentences in columns, n above; "*" marks the best variant of a
// column.
std::string table_text(const StudyTable& table);
// Each claim that could be judged with its number, then how many could not.
std::string claims_text(const std::vector<JudgedClaim>& claims);

// {"format": "softalign-study", "runs": [{"part", "variant", "seed", "run_id", "path", "state"}],
// "tables": [..], "claims": [..]}; paths are relative to the study's folder.
std::string study_json(const Study& study,
                       const std::vector<StudyRun>& runs,
                       const StudyOutcome& outcome);
// Whether a file holds such a text.
bool is_study_json(const std::filesystem::path& file);

}  // namespace softalign
