// Checks before a run's folder is used or written to: spec.yaml and identity.json are complete and agree, files and
// folders have the right type. Also removes left-over temporary files.
#pragma once

#include <string>
#include <vector>

#include "framework/record/file.hpp"

namespace softalign {

// Checks the origin of a run: spec.yaml for readers, identity.json with the content of the run ID. Does not
// interpret options, so it needs neither the run's plugins nor the version that wrote them. Throws DataError
// with file, fault and remedy if one of the two is missing or damaged, or they differ. `except`: paths of the
// options that change no number; identity.json has their defaults, whatever spec.yaml has
// (Spec::options_outside_run_id).
void check_spec_files(const RunFolder& run,
                      const std::string& run_id,
                      const std::vector<std::string>& except);

// Call this before writing to a run's folder, which may come from someone else, or from a killed process.
// Throws DataError, with the remedy, for anything that is not a regular file or a folder: links, through
// which files outside the folder would be written, truncated or removed, and pipes. wanted: regular or
// directory.
void check_file_type(const std::filesystem::path& path, std::filesystem::file_type wanted);

// Call this before writing a file that the user did not name, so that only files of softalign are
// replaced. Throws the errors of check_file_type, and DataError if `ours` does not recognise the existing file.
void check_replaceable(const std::filesystem::path& file,
                       const std::function<bool(const std::filesystem::path&)>& ours);

// Like check_file_type, for everything with the name of one of the run's files or folders. Other names are
// ignored.
void check_names_in(const RunFolder& run);

// Removes the temporary files of dead processes in the run's folder, its attempts and its
// checkpoints: with a claim on the run those of all processes, because processes of other machines
// cannot be checked; without a claim only those of processes that are known to be dead.
void remove_temporaries(FileSystem& files, const RunFolder& run, bool claimed);

}  // namespace softalign
