// Checks before a run's folder is used or written to: that spec.yaml and identity.json are whole and say the
// same, that what has the names of its files and folders is of that type, and which temporary files are left
// over.
#pragma once

#include <string>
#include <vector>

#include "framework/record/file.hpp"

namespace softalign {

// Checks what the run was made from: spec.yaml for people, identity.json with the hash that is the run's ID.
// Reads no option's meaning, so it needs neither the run's plugins nor the version that wrote them. Throws
// DataError with file, fault and remedy when one of the two is missing or damaged, or they differ. `except`:
// paths of the options that change no number, so that identity.json has their defaults whatever spec.yaml says
// (Spec::options_outside_run_id).
void check_spec_files(const RunFolder& run,
                      const std::string& run_id,
                      const std::vector<std::string>& except);

// To be called before a run's folder is written to: it may be a stranger's, or what a kill left. Throws
// DataError, with the remedy, for what stands there and is not a file, or a folder, of its own: a link, which
// would lead what is written, cut and removed out of the folder, a pipe. `wanted`: regular or directory.
void check_file_type(const std::filesystem::path& path, std::filesystem::file_type wanted);

// Before a file is written that nobody named: what we made is replaced. Throws as check_file_type, and
// DataError where `ours` does not know what stands there.
void check_replaceable(const std::filesystem::path& file,
                       const std::function<bool(const std::filesystem::path&)>& ours);

// As check_file_type, for everything that has the name of one of the run's files or folders. What has other
// names is not looked at.
void check_names_in(const RunFolder& run);

// Removes the temporary files that dead processes left in the run's folder, its attempts and its
// checkpoints. With a claim on the run: those of all processes, for another machine's cannot be
// known to be dead; without one only those that certainly are.
void remove_temporaries(FileSystem& files, const RunFolder& run, bool claimed);

}  // namespace softalign
