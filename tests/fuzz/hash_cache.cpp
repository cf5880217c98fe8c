// The cache of file hashes: no cache file changes a hash.
#include "framework/base/hash.hpp"
#include "framework/data/cache.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace softalign;
using namespace softalign::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path text = [] {
    setenv("SOFTALIGN_CACHE", (folder() / "cache").c_str(), 1);
    std::filesystem::create_directories(folder() / "cache/hashes");
    return file("text", "a b c\n");
  }();
  static const std::string note = "cache/hashes/" + sha256_hex(text.string());
  file(note, Input(data, size).rest());
  require(remembered_hash({text.string()}) == sha256_hex("a b c\n"), "a note changes a hash");
  return 0;
}
