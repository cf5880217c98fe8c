// What is remembered of the runs of one folder, as a file of the cache. In the machine's own byte
// order, and only for the build that wrote it: another may see other things in a record.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace softalign {

// Of one run: the state of its files when they were read, and what was read.
struct IndexEntry {
  std::string stamp;
  std::string ends;  // a hash of how the files end, if they were too young for the stamp alone
  std::string summary;
};
using IndexEntries = std::map<std::string, IndexEntry, std::less<>>;  // by the name of the folder

// Where the index of a folder lies in the cache; `folder` is its canonical path.
std::filesystem::path index_place(const std::filesystem::path& cache, const std::string& folder);

// Nothing when there is no such file, or it is damaged, another folder's or another build's.
IndexEntries read_index(const std::filesystem::path& place, const std::string& folder);

// Replaces the file in one step. Without it all is well, only slower: while another process writes
// the same one, or where the system refuses, nothing happens.
void write_index(const std::filesystem::path& place,
                 const std::string& folder,
                 const IndexEntries& entries);

}  // namespace softalign
