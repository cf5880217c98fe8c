// Summaries of all runs below a folder. A run is read again only if its files have changed since they
// were last read.
//
// Summaries are stored in the cache folder (data/cache.hpp), one file for each folder that directly
// contains runs: so `ls results`, `ls results/one_sweep` and that sweep's own table share a file,
// and a run that ends does not touch the files of other sweeps. Files may be removed at any time.
#pragma once

#include <ctime>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/run.hpp"
#include "framework/data/cache.hpp"

namespace softalign {

struct IndexOptions {
  std::optional<std::filesystem::path> cache = cache_folder();  // empty: all runs are read
  std::time_t now = std::time(nullptr);
};

struct RunIndex {
  std::vector<Run> runs;  // by path, in the order of runs_below
  std::size_t read = 0;   // number of runs that the cache did not supply
};

// A stored summary is used while its files and the run folder have the stamps they had when it was read
// (data/cache.hpp); if the stamps were too recent at that time, the ends of the files must also be unchanged. Active
// and lost runs (when a process dies, no file changes) and unreadable runs are read each time. Throws like runs_below.
RunIndex index_runs(const std::filesystem::path& folder, const IndexOptions& options = {});

// The index of the runs in one folder is a cache file: CBOR and a checksum. Only the build that wrote it reads it,
// because another build may derive a different summary from a record.

// The files that determine a run's summary, relative to its folder, and their stamps.
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

// The entry of one run: its summary, and the stamps of its files when they were read.
struct IndexEntry {
  RunStamp stamp;
  std::string ends;  // hash of the ends of the files, if they were too recent for stamps alone
  Run run;           // its summary

  template <class V>
  void describe(V& v) {
    v("stamp", stamp);
    v("ends", ends);
    v("summary", run);
  }
};
using IndexEntries = std::map<std::string, IndexEntry>;  // by the name of the run folder

// Returns the path of a folder's index in the cache; `folder` is its canonical path.
std::filesystem::path index_place(const std::filesystem::path& cache, const std::string& folder);

// Reads an index; empty if the file is missing, damaged, or of another folder or build.
IndexEntries read_index(const std::filesystem::path& place, const std::string& folder);

// Replaces the file atomically. Does nothing if the system does not allow it: runs are then read each time, which is
// only slower.
void write_index(const std::filesystem::path& place,
                 const std::string& folder,
                 const IndexEntries& entries);

}  // namespace softalign
