// The starting points of a run besides random numbers: a shorter run, parameters of another run, word vectors.
// A run that differs from a complete one only in its length resumes from a checkpoint of that run, to the same
// bits.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/train_options.hpp"

namespace softalign {

// A run that differs only in its length: train.epochs, train.max_updates and train.early_stopping.patience.
struct ShorterRun {
  std::string run_id;
  std::filesystem::path folder;
  ResumePoint beginning;  // its newest checkpoint that the longer run passes, too
};

// Returns the folders among `runs` in which the run of folder `own` is complete under another name and can be
// reused: this version of the program made it, and it has a checkpoint.
std::vector<RunFolder> complete_elsewhere(const std::vector<RunFolder>& runs, const RunFolder& own);

// Finds the same run under another name, or a shorter run next to it, whichever trained longest, among those of
// this program's version (another may record more numbers) with the same plugins. Corrupt files are ignored.
// Throws MachineError if a file is unreadable, because a finished training might be repeated otherwise.
std::optional<ShorterRun> find_shorter_run(const Spec& spec,
                                           const RunPlace& run,
                                           const std::filesystem::path& results);

// Returns the SHA-256 of the names, shapes and values of a record's parameters. `record`: the record, or the
// folder of its run. Throws DataError.
std::string parameters_sha256(const std::filesystem::path& record);

// Overwrites initial values as spec.init requires: with parameters of another run, or word vectors. Throws
// SpecError or DataError for mismatches, naming parameters with their shapes. Returns notes for the user:
// what was copied, and for which share of the vocabularies.
std::vector<std::string> warm_start(Model& model, const InitOptions& options, const Dataset& data);

}  // namespace softalign
