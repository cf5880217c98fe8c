// The runs, their learning curves or their test sentences as one table, for other programs.
//
//   runs       one row per run: its facts (run_values.hpp: run_id, name, state, started, tags, ..); every
//              option of its identity by path; "dev/loss" (last), "dev/loss:best", "test/bleu", "test/bleu:signature"
//   curves     one row per number (long form): run_id, name, seed, series, update, metric, value
//   sentences  one row per test sentence: run_id, name, seed, sentence, and all its data in /test; an
//              array with several numbers per sentence is bleu_stats_0, bleu_stats_1, .., chrf_stats_00, ..;
//              cells are empty if a metric needs a reference and there is none. `every_line`: also a row for
//              each skipped line of the test file, which has only the line number
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/analysis/table_writer.hpp"
#include "framework/base/types.hpp"

namespace softalign {

enum class ExportWhat { runs, curves, sentences };

struct Export {
  std::string table;                // in the requested format
  Index runs = 0;                   // number of runs in the table
  std::vector<std::string> faults;  // a line for each run that is missing from the table
  bool unreadable = false;          // a missing run could not be read, but may be undamaged
};

// Exports runs in the given order, each a folder or a record. The column `path` has the paths as given.
Export export_runs(const std::vector<std::filesystem::path>& runs,
                   ExportWhat what,
                   TableFormat format,
                   bool every_line = false);

}  // namespace softalign
