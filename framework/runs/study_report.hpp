// A study's outcome in words for a terminal, and as JSON for programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/runs/study_results.hpp"

namespace softalign {

struct StudyOutcome {
  std::vector<StudyTable> tables;
  std::vector<JudgedClaim> claims;
};

// One line a run: number, name, seed, run id, state.
std::string plan_text(const RunList& list, const std::vector<std::size_t>& rows);

// Variants in rows, lengths that have sentences in columns, n above; "*" marks the best variant of a
// column.
std::string table_text(const StudyTable& table);

// {"format": "softalign-study", "runs": [{"part", "variant", "seed", "run_id", "path", "state"}],
// "tables": [..], "claims": [..]}; paths are relative to the study's folder.
std::string study_json(const Study& study,
                       const RunList& list,
                       const std::vector<std::size_t>& rows,
                       const StudyOutcome& outcome);
// Whether a file holds such a text.
bool is_study_json(const std::filesystem::path& file);

}  // namespace softalign
