// Reads alignment matrices from a record's /alignments, or from files with only this group (written by
// `softalign translate --alignments`), and writes such files. The layout is that of write_alignments
// (publish.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/record/file.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

// All functions throw DataError, which names the file, if it is damaged.
class StoredAlignments {
 public:
  // `hdf5` must outlive it.
  StoredAlignments(const std::filesystem::path& file, const Hdf5Reader& hdf5)
      : file_(file), hdf5_(hdf5) {}

  const std::filesystem::path& file() const { return file_; }
  std::vector<std::string> modules() const;
  std::vector<Index> heads(const std::string& module) const;    // numbers of its heads
  std::vector<Index> updates(const std::string& module) const;  // updates with recorded matrices
  // Returns the sentences with matrices in a module, as numbered when recorded.
  std::vector<Index> sentences(const std::string& module) const;
  // Returns the matrices of one sentence without padding, by update and head; empty for an empty sentence.
  std::vector<Alignment> of_sentence(const std::string& module, Index sentence) const;
  // Calls a function with the matrices of every sentence, in the order of sentences().
  void each_sentence(
      const std::string& module,
      const std::function<void(Index sentence, const std::vector<Alignment>&)>& take) const;

 private:
  std::filesystem::path file_;
  const Hdf5Reader& hdf5_;
};

// Replaces or creates `path` in one step. run_id: the run of the model. Throws MachineError
// if the disk fails.
void write_alignment_record(FileSystem& files,
                            const std::filesystem::path& path,
                            const std::string& run_id,
                            std::vector<Alignment> alignments);

// Returns whether a file is an alignment record. Throws DataError if it cannot be read as HDF5.
bool is_alignment_record(const std::filesystem::path& path);

// Reads an alignment record. Throws DataError in one line if the file is absent, damaged or of another kind.
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
