#include "framework/analysis/index_file.hpp"

#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/data/checksum.hpp"
#include "framework/data/new_file.hpp"
#include "framework/record/file.hpp"
#include "framework/record/journal/bytes.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
namespace {

constexpr std::string_view kMagic = "SOFTRUNS";
constexpr std::uint32_t kVersion = 2;

std::string header_of(const std::string& folder) {
  ByteWriter out;
  out.raw(kMagic);
  out.number(kVersion);
  out.text(build_info().version + " " + build_info().git_commit);
  out.text(folder);
  return out.bytes();
}

std::uint64_t checksum_of(std::string_view blocks) {
  Checksum sum;
  sum.add(std::as_bytes(std::span(blocks)));
  return sum.sum();
}

}  // namespace

fs::path index_place(const fs::path& cache, const std::string& folder) {
  return cache / "runs" / sha256_hex(folder);
}

IndexEntries read_index(const fs::path& place, const std::string& folder) {
  IndexEntries entries;
  try {
    const std::string bytes = read_file(place), header = header_of(folder);
    const std::size_t size = bytes.size() / Checksum::kBlock * Checksum::kBlock;  // before the sum
    if (bytes.size() != size + sizeof(std::uint64_t) || !bytes.starts_with(header)) return {};
    const std::string_view blocks(bytes.data(), size);
    if (ByteReader(std::string_view(bytes).substr(size)).number<std::uint64_t>() !=
        checksum_of(blocks))
      return {};
    ByteReader in(blocks.substr(header.size()));
    for (auto left = in.number<std::uint64_t>(); left > 0; --left) {
      std::string name = in.text(), stamp = in.text(), ends = in.text();
      entries[std::move(name)] = {std::move(stamp), std::move(ends), in.text()};
    }
  } catch (const Error&) {
    return {};
  }
  return entries;
}

void write_index(const fs::path& place, const std::string& folder, const IndexEntries& entries) {
  ByteWriter out;
  out.raw(header_of(folder));
  out.number<std::uint64_t>(entries.size());
  for (const auto& [name, entry] : entries) {
    out.text(name);
    out.text(entry.stamp);
    out.text(entry.ends);
    out.text(entry.summary);
  }
  const std::size_t over = out.bytes().size() % Checksum::kBlock;
  out.raw(std::string(over > 0 ? Checksum::kBlock - over : 0, '\0'));
  out.number(checksum_of(out.bytes()));
  try {
    const auto file = NewFile::begin(place);
    if (!file) return;
    file->write(std::as_bytes(std::span(out.bytes())));
    file->put_in_place();
  } catch (const FileFault&) {
  }
}

}  // namespace softalign
