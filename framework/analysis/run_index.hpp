// Summaries of all runs below a folder, of which only those are read whose files have changed since
// they were read last.
//
// What was read is kept in the cache folder (data/cache_folder.hpp), one file for each folder that
// runs lie directly in: so `ls results`, `ls results/one_sweep` and that sweep's own table share
// it, and a run that ends touches no other sweep's. It may be removed at any time.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
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
  std::size_t read = 0;   // how many were not as they are remembered
};

// A summary is believed while its files, and the run's folder, have the stamps they had when it was
// read (data/cache.hpp); if they had not been left alone by then, it must also be seen later that
// the files still end as they did. Runs at work or lost (when a process
// dies, no file changes) and those that could not be read are read each time. Throws as runs_below.
RunIndex index_runs(const std::filesystem::path& folder, const IndexOptions& options = {});

}  // namespace softalign
