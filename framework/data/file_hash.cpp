#include "framework/data/file_hash.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>

#include "framework/base/hash.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/cache_folder.hpp"
#include "framework/data/new_file.hpp"

namespace softalign {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kHash = 64;
// How long ago a file must have changed. More than the coarsest clock of a file system (FAT: 2 s);
// the rest is for a server whose clock is behind ours.
constexpr std::time_t kSettled = 10;

// Which state of which file; empty when there is none.
struct State {
  std::string text;
  bool settled = false;
};

State state_of(const fs::path& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  const std::time_t changed = std::max(info.st_mtim.tv_sec, info.st_ctim.tv_sec);
  return {fmt::format("softalign-hash 1\n{}\ndevice {} inode {} size {} modified {}.{:09} changed "
                      "{}.{:09}\n",
                      path.string(),
                      info.st_dev,
                      info.st_ino,
                      info.st_size,
                      info.st_mtim.tv_sec,
                      info.st_mtim.tv_nsec,
                      info.st_ctim.tv_sec,
                      info.st_ctim.tv_nsec),
          changed + kSettled <= std::time(nullptr)};
}

// What is remembered of a file: its state and its hash, and a hash of both.
std::string note_of(const State& state, const std::string& hash) {
  const std::string text = state.text + hash + "\n";
  return text + sha256_hex(text) + "\n";
}

std::string read_note(const fs::path& place) {
  std::ifstream in(place, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Without a note all is well, only slower; one that a crash left half is not believed.
void remember(const fs::path& place, const std::string& note) {
  try {
    const auto file = NewFile::begin(place);
    if (!file) return;
    file->write(std::as_bytes(std::span(note)));
    file->put_in_place();
  } catch (const FileFault&) {
  }
}

std::string hash(const InputFile& file, bool believe) {
  const auto folder = cache_folder();
  std::error_code error;
  const fs::path path = fs::absolute(file.path, error);
  const State before = state_of(path);
  if (!folder || error || before.text.empty()) return hash_of_file(file);
  const fs::path place = *folder / "hashes" / sha256_hex(path.string());
  const std::string note = read_note(place);
  if (believe && note.size() == before.text.size() + 2 * (kHash + 1)) {
    const std::string remembered = note.substr(before.text.size(), kHash);
    if (note == note_of(before, remembered)) return remembered;
  }
  const std::string found = hash_of_file(file);
  const State after = state_of(path);
  if (before.settled && after.text == before.text) {
    if (note != note_of(before, found)) remember(place, note_of(before, found));
  } else if (!note.empty()) {
    fs::remove(place, error);
  }
  return found;
}

}  // namespace

std::string remembered_hash(const InputFile& file) { return hash(file, true); }

std::string read_hash(const InputFile& file) { return hash(file, false); }

}  // namespace softalign
