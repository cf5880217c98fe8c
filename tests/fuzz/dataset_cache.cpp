// Files of the dataset cache with valid checksums.
//
// An input is u32, the offset of the JSON, then the file without its trailer.
#include <sys/mman.h>
#include <unistd.h>

#include "framework/base/bytes.hpp"
#include "framework/base/types.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/data/vocabulary.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

std::uint64_t sum_of(const std::string& bytes) {
  Checksum sum;
  sum.add(std::as_bytes(std::span(bytes)));
  return sum.sum();
}

// dataset_file.cpp has the trailer.
std::string with_trailer(std::string bytes, std::uint64_t json_at, const std::string& key) {
  bytes.resize((bytes.size() + Checksum::kBlock - 1) / Checksum::kBlock * Checksum::kBlock, ' ');
  ByteWriter trailer;
  trailer.raw("softalign-data 1");
  trailer.raw(key);
  trailer.number<std::uint64_t>(0x0102030405060708);
  trailer.number<std::uint64_t>(sizeof(ExampleRow));
  trailer.number(json_at);
  trailer.number<std::uint64_t>(bytes.size());
  trailer.number(sum_of(bytes));
  const std::uint64_t own = sum_of(trailer.bytes() + std::string(8, '\0'));
  trailer.number(own);
  return bytes + trailer.bytes();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string key(64, 'k');
  static const int memory = memfd_create("dataset", MFD_CLOEXEC);
  Input in(data, size);
  const auto json_at = in.number<std::uint32_t>();
  const std::string bytes = with_trailer(in.rest(), json_at, key);
  require(ftruncate(memory, 0) == 0 &&
              pwrite(memory, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "memfd");
  std::optional<Dataset> read;
  try {
    read = read_dataset(memory, key);
  } catch (const MachineError&) {  // an empty file cannot be mapped
  }
  if (!read) return 0;
  std::size_t bytes_seen = 0;  // all bytes are readable
  for (const Split* split : {&read->train, &read->dev, &read->test})
    for (const Example example : split->examples) {
      for (const Token token : example.source) bytes_seen += usize(token & 1);
      for (const Token token : example.target) bytes_seen += usize(token & 1);
      for (const Link& link : example.links) bytes_seen += usize(link.source & 1);
      for (const char c : example.source_text) bytes_seen += usize(c & 1);
      for (const char c : example.target_text) bytes_seen += usize(c & 1);
    }
  require(bytes_seen <= 3 * bytes.size(), "more bytes than there are");
  return 0;
}
