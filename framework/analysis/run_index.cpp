#include "framework/analysis/run_index.hpp"

#include <algorithm>
#include <map>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/data/cache.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
namespace {

// An index is rewritten when at least 1/kShare of it has changed, so that the cost of a run does not
// grow with the number of other runs.
constexpr std::size_t kShare = 256;

// Returns the files that determine a run's summary, relative to its folder. The stamp of the folder itself, "", changes
// with every file that is added, removed or replaced; the other stamps, with files that are written in place.
std::vector<std::string> files_of(const RunFolder& run) {
  const std::vector<Index> attempts = run.attempts(), journals = run.journals();
  const Index claim = attempts.empty() ? 0 : attempts.back();
  const Index journal = journals.empty() ? 0 : journals.back();
  const RunFolder here{""};
  std::vector<std::string> files = {""};
  for (const fs::path& file : {here.identity(), here.spec(), here.status(), here.record()})
    files.push_back(file.string());
  if (journal > 0) files.push_back(here.journal(journal).string());
  if (claim > 0) files.push_back(here.claim(claim).string());
  files.push_back(
      here.claim(1 + std::max(claim, journal)).string());  // the next claim, see claim.cpp
  return files;
}

// Returns a hash of the last 16 KiB of each file. They contain the seal of a record, which is a checksum of all bytes
// before it, the last frames of a journal, which only grows, and the whole of other files.
std::string ends_of(const RunFolder& run, const std::vector<std::string>& files) {
  constexpr std::uint64_t kEnd = 1 << 14;
  ByteWriter out;
  for (const std::string& name : files) {
    std::string end;
    try {
      const RegularFile file(run.root / name);
      end.resize(usize(std::min(kEnd, file.size())));
      end.resize(file.read(end.data(), end.size(), file.size() - end.size()));
    } catch (const std::exception&) {  // missing or unreadable file: read_run reports it
      end.clear();
    }
    out.text(end);
  }
  return sha256_hex(out.bytes());
}

RunStamp stamp_of(const RunFolder& run, std::vector<std::string> files) {
  RunStamp stamp{std::move(files), {}};
  std::string path = run.root.native() + "/";
  const std::size_t root = path.size();
  for (const std::string& file : stamp.files) {
    path.replace(root, path.npos, file);
    stamp.stamps.push_back(softalign::stamp_of(path.c_str()));
  }
  return stamp;
}

bool is_settled(const RunStamp& stamp, std::time_t now) {
  return std::ranges::all_of(stamp.stamps, [&](const FileStamp& one) { return one.settled(now); });
}

// Returns the stored run if its files have not changed. If the files were too recent for their time stamps alone, the
// hash of their ends must also agree; it is dropped once they have settled.
std::optional<Run> remembered(const RunFolder& run, std::time_t now, IndexEntry& entry) {
  try {
    const std::vector<std::string>& files = entry.stamp.files;
    if (stamp_of(run, files) != entry.stamp) return std::nullopt;
    if (!entry.ends.empty()) {
      if (files != files_of(run) || ends_of(run, files) != entry.ends) return std::nullopt;
      if (is_settled(entry.stamp, now)) entry.ends.clear();
    }
    Run read = entry.run;
    read.path = run.root;
    return read;
  } catch (const Error&) {  // read_run reports the reason
    return std::nullopt;
  }
}

// The runs directly in one folder.
class FolderIndex {
 public:
  FolderIndex(const fs::path& folder, const IndexOptions& options) : now_(options.now) {
    std::error_code error;
    folder_ = fs::canonical(folder.empty() ? "." : folder, error).string();
    if (!options.cache || error) return;
    place_ = index_place(*options.cache, folder_);
    old_ = read_index(place_, folder_);
  }

  Run read(const RunFolder& run) {
    const std::string name = run.root.filename().string();
    const auto known = old_.find(name);
    if (known != old_.end()) {
      const bool young = !known->second.ends.empty();
      if (auto found = remembered(run, now_, known->second)) {
        if (young && known->second.ends.empty()) ++changed_;
        new_.insert(old_.extract(known));
        return *std::move(found);
      }
    }
    ++read_;
    IndexEntry entry;
    try {
      entry.stamp = stamp_of(run, files_of(run));
      if (!is_settled(entry.stamp, now_)) entry.ends = ends_of(run, entry.stamp.files);
    } catch (const MachineError&) {
      return read_run(run.root);  // reports the reason
    }
    Run made = read_run(run.root);
    const bool lasting = made.fault.empty() && !may_change_unseen(made.status.state);
    if (!place_.empty() && lasting) {
      entry.run = made;
      new_[name] = std::move(entry);
      ++changed_;
    }
    return made;
  }

  std::size_t count_read() const { return read_; }

  // Call after all runs were read: entries still in the old index belong to runs that are gone from the disk.
  void write() const {
    const std::size_t changes = changed_ + old_.size();
    if (changes > 0 && changes * kShare >= new_.size()) write_index(place_, folder_, new_);
  }

 private:
  std::time_t now_;
  std::string folder_;
  fs::path place_;  // empty: no cache
  IndexEntries old_, new_;
  std::size_t read_ = 0, changed_ = 0;  // changed_: number of changed entries in new_
};

}  // namespace

RunIndex index_runs(const fs::path& folder, const IndexOptions& options) {
  RunIndex index;
  if (is_run_folder(folder)) {  // the index of its parent is not used
    index.runs.push_back(read_run(folder));
    index.read = 1;
    return index;
  }
  std::map<std::string, FolderIndex> folders;
  for (const RunFolder& run : runs_below(folder)) {
    const std::string parent = run.root.parent_path().string();
    auto at = folders.find(parent);
    if (at == folders.end()) at = folders.try_emplace(parent, parent, options).first;
    index.runs.push_back(at->second.read(run));
  }
  for (const auto& [parent, one] : folders) {
    index.read += one.count_read();
    one.write();
  }
  return index;
}

namespace {

struct IndexFile {
  std::string build, folder;
  std::vector<std::pair<std::string, IndexEntry>> entries;

  template <class V>
  void describe(V& v) {
    v("build", build);
    v("folder", folder);
    v("entries", entries);
  }
};

std::string this_build() { return build_info().version + " " + build_info().git_commit; }

// Returns the checksum of the bytes, padded with zeros.
std::uint64_t checksum_of(std::string bytes) {
  bytes.resize((bytes.size() + Checksum::kBlock - 1) / Checksum::kBlock * Checksum::kBlock);
  Checksum sum;
  sum.add(std::as_bytes(std::span(bytes)));
  return sum.sum();
}

}  // namespace

fs::path index_place(const fs::path& cache, const std::string& folder) {
  return cache / "runs" / sha256_hex(folder);
}

IndexEntries read_index(const fs::path& place, const std::string& folder) {
  try {
    std::string bytes = read_file(place);
    if (bytes.size() < sizeof(std::uint64_t)) return {};
    const std::size_t size = bytes.size() - sizeof(std::uint64_t);
    const auto sum = ByteReader(std::string_view(bytes).substr(size)).number<std::uint64_t>();
    bytes.resize(size);
    if (sum != checksum_of(bytes)) return {};
    auto index = unpacked<IndexFile>(bytes);
    if (index.build == this_build() && index.folder == folder)
      return {std::make_move_iterator(index.entries.begin()),
              std::make_move_iterator(index.entries.end())};
  } catch (const Error&) {
  }
  return {};
}

void write_index(const fs::path& place, const std::string& folder, const IndexEntries& entries) {
  ByteWriter out;
  out.raw(packed(IndexFile{this_build(), folder, {entries.begin(), entries.end()}}));
  out.number(checksum_of(out.bytes()));
  try {
    FileSystem::real().make_folders(place.parent_path());
    FileSystem::real().write_atomically(place, out.bytes());
  } catch (const MachineError&) {
  }
}

}  // namespace softalign
