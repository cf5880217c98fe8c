// A file that holds alignments and nothing else, in the layout of a record's /alignments: what
// `softalign translate --alignments` leaves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/frames.hpp"

namespace softalign {

// Replaces or creates `path` in one step. run_id: the run whose model made them. Throws
// MachineError when the disk fails.
void write_alignment_record(FileSystem& files,
                            const std::filesystem::path& path,
                            const std::string& run_id,
                            std::vector<Alignment> alignments);

}  // namespace softalign
