// Summaries of all runs below a folder, of which only those are read whose files have changed since
// they were read last.
//
// Summaries are kept in the cache folder (data/cache.hpp), one file for each folder that
// runs lie directly in: so `ls results`, `ls results/one_sweep` and that sweep's own table share
// it, and a run that ends touches no other sweep's. It may be removed at any time.
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
  std::optional<std::filesystem::path> cache = cache_folder();  // none: every run is read
  std::time_t now = std::time(nullptr);
};

struct RunIndex {
  std::vector<Run> runs;  // by path, as runs_below finds them
  std::size_t read = 0;   // runs that were not as remembered
};

// A summary is used while its files, and the run's folder, have the stamps they had when it was read
// (data/cache.hpp); if they had not been left alone by then, the files must also still end as they did. Runs at
// work or lost (when a process dies, no file changes) and those that could not be read are read each time.
// Throws as runs_below.
RunIndex index_runs(const std::filesystem::path& folder, const IndexOptions& options = {});

// The index of one folder's runs, a file of the cache: CBOR and a checksum, for the build that wrote it only,
// since another may see other things in a record.

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

// The entry of one run: the state of its files when they were read, and what was read.
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

// The path of a folder's index in the cache; `folder` is its canonical path.
std::filesystem::path index_place(const std::filesystem::path& cache, const std::string& folder);

// Reads an index; empty when the file is missing, damaged, another folder's or another build's.
IndexEntries read_index(const std::filesystem::path& place, const std::string& folder);

// Replaces the file in one step; does nothing where the system refuses: without an index all is well, only
// slower.
void write_index(const std::filesystem::path& place,
                 const std::string& folder,
                 const IndexEntries& entries);

}  // namespace softalign
