// Reads alignment matrices back, from a record or from a file that holds nothing else: the
// counterpart of layout_alignments.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/journal/frames.hpp"

namespace softalign {

// Every function throws DataError naming the file when it is damaged.
class StoredAlignments {
 public:
  // `hdf5` must outlive it.
  StoredAlignments(const std::filesystem::path& file, const Hdf5Reader& hdf5)
      : file_(file), hdf5_(hdf5) {}

  const std::filesystem::path& file() const { return file_; }
  std::vector<std::string> modules() const;
  std::vector<Index> heads(const std::string& module) const;    // numbers of its heads
  std::vector<Index> updates(const std::string& module) const;  // those after which it was kept
  // The sentences whose matrices a module holds, as they were numbered when recorded.
  std::vector<Index> sentences(const std::string& module) const;
  // The matrices of one sentence without padding, by update and head; none for an empty sentence.
  std::vector<Alignment> of_sentence(const std::string& module, Index sentence) const;
  // Those of every sentence, in the order of sentences().
  void each_sentence(
      const std::string& module,
      const std::function<void(Index sentence, const std::vector<Alignment>&)>& take) const;

 private:
  std::filesystem::path file_;
  const Hdf5Reader& hdf5_;
};

}  // namespace softalign
