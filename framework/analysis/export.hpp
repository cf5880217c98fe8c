// The runs, their learning curves or their test sentences as one table, for other programs.
//
//   runs       a row a run: its facts (run_values.hpp: run_id, name, state, started, tags, ..); every
//              option of its identity by path; "dev/loss" (last), "dev/loss:best", "test/bleu", "test/bleu:signature"
//   curves     a row a number (long form): run_id, name, seed, series, update, metric, value
//   sentences  a row a test sentence: run_id, name, seed, sentence, and all that /test has of it;
//              several numbers of one sentence are bleu_stats_0, bleu_stats_1, .., chrf_stats_00, ..;
//              nothing where it has no reference to be measured by. `every_line`: a row for each line of
//              the test file too that was skipped, with its number alone
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/analysis/table_writer.hpp"
#include "framework/base/types.hpp"

namespace softalign {

enum class ExportWhat { runs, curves, sentences };

struct Export {
  std::string table;                // in the format asked for
  Index runs = 0;                   // that are in it
  std::vector<std::string> faults;  // a line for each run that is not in it
  bool unreadable = false;          // one of these is sound as far as anybody knows
};

// Runs in the order given: folders or records. `path` is as given.
Export export_runs(const std::vector<std::filesystem::path>& runs,
                   ExportWhat what,
                   TableFormat format,
                   bool every_line = false);

}  // namespace softalign
