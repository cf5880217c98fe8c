#include "framework/analysis/index_file.hpp"

#include "framework/base/bytes.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/stored.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/record/file.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
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

// Of the bytes, filled up with zeros.
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
