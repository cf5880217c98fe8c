// What is remembered of the runs of one folder, as a file of the cache: CBOR and a checksum, for the build that
// wrote it only, since another may see other things in a record.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "framework/analysis/run.hpp"
#include "framework/data/cache.hpp"

namespace softalign {

// The files that a run's summary is a function of, below its folder, and their states.
struct RunStamp {
  std::vector<std::string> files;
  std::vector<FileStamp> stamps;
  bool operator==(const RunStamp&) const = default;

  template <class V>
  void describe(V& v) {
    v("files", files);
    v("stamps", stamps);
  }
};

// Of one run: the state of its files when they were read, and what was read.
struct IndexEntry {
  RunStamp stamp;
  std::string ends;  // a hash of how the files end, if they were too young for the stamp alone
  Run run;           // its summary

  template <class V>
  void describe(V& v) {
    v("stamp", stamp);
    v("ends", ends);
    v("summary", run);
  }
};
using IndexEntries = std::map<std::string, IndexEntry>;  // by the name of the folder

// Where the index of a folder lies in the cache; `folder` is its canonical path.
std::filesystem::path index_place(const std::filesystem::path& cache, const std::string& folder);

// Empty when there is no such file, or it is damaged, another folder's or another build's.
IndexEntries read_index(const std::filesystem::path& place, const std::string& folder);

// Replaces the file in one step; does nothing where the system refuses: without an index all is well, only
// slower.
void write_index(const std::filesystem::path& place,
                 const std::string& folder,
                 const IndexEntries& entries);

}  // namespace softalign
