// What is done before a run's folder is written to: it may be a stranger's, or what a kill left.
#pragma once

#include "framework/record/file.hpp"
#include "framework/record/run_folder.hpp"

namespace softalign {

// Throws DataError for the first thing that has the name of one of the run's files or folders and
// is none: a link, which would lead what is written, cut and removed out of the folder, a pipe, a
// folder. What has other names is not looked at.
void check_places(const RunFolder& run);

// Removes the temporary files that dead processes left in the run's folder, its attempts and its
// checkpoints. With a claim on the run: those of all processes, for another machine's cannot be
// known to be dead; without one only those that certainly are.
void remove_temporaries(FileSystem& files, const RunFolder& run, bool claimed);

}  // namespace softalign
