// A file that holds alignments and nothing else, in the layout of a record's /alignments: what
// `softalign translate --alignments` leaves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/record/published/open_alignments.hpp"

namespace softalign {

// Replaces or creates `path` in one step. run_id: the run whose model made them. Throws
// MachineError when the disk fails.
void write_alignment_record(FileSystem& files,
                            const std::filesystem::path& path,
                            const std::string& run_id,
                            std::vector<Alignment> alignments);

// Whether a file is one of these. Throws DataError when it cannot be read as HDF5.
bool is_alignment_record(const std::filesystem::path& path);

// Reads one. Throws DataError in one line for a file that is absent, damaged or something else.
class AlignmentRecord {
 public:
  explicit AlignmentRecord(const std::filesystem::path& path);

  const std::filesystem::path& file() const { return file_; }
  const std::string& run_id() const { return run_id_; }
  const std::string& created() const { return created_; }         // UTC
  StoredAlignments alignments() const { return {file_, hdf5_}; }  // while this lives

 private:
  std::filesystem::path file_;
  Hdf5Reader hdf5_;
  std::string run_id_, created_;
};

}  // namespace softalign
