#include "framework/data/dataset_cache.hpp"

#include <chrono>
#include <optional>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/path.hpp"
#include "framework/base/regular_file.hpp"
#include "framework/data/cache_folder.hpp"
#include "framework/data/dataset_file.hpp"

namespace softalign {
namespace {

Dataset in_memory(const MakeDataset& make) {
  Dataset data;
  make(data, [](Split& split, const Example& example) { split.examples.append(example); });
  return data;
}

fs::path place_of(const fs::path& folder, const std::string& key) {
  return folder / "datasets" / key;
}

// What may stand in the cache under a key.
struct Kept {
  fs::path place;
  std::string key;
  bool damaged = false;  // something stands there, and it is not what was written

  std::optional<Dataset> open() {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(place, error))) return {};
    std::optional<Dataset> data;
    try {
      data = read_dataset(RegularFile(place).descriptor(), key);
    } catch (const Error&) {  // a folder, a pipe
    }
    damaged = !data;
    return data;
  }
};

// Waits while another process makes the file; null when it has.
std::unique_ptr<NewFile> begin(Kept& kept, std::optional<Dataset>& made, const Progress& progress) {
  const std::string waiting =
      fmt::format("waiting for another process to make {}; remove {} not to",
                  printable(kept.place.string(), kWhole),
                  printable(beside(kept.place).filename().string(), kWhole));
  bool waited = false;
  for (;;) {
    std::unique_ptr<NewFile> file = NewFile::begin(kept.place);
    if (file) {
      if (waited) made = kept.open();
      return file;
    }
    waited = true;
    if (progress) progress(waiting, 0, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

Dataset through_file(Kept& kept, const MakeDataset& make, const Progress& progress) {
  if (std::optional<Dataset> data = kept.open()) return std::move(*data);
  std::optional<Dataset> made_by_another;
  const std::unique_ptr<NewFile> file = begin(kept, made_by_another, progress);
  if (made_by_another) return std::move(*made_by_another);

  DatasetWriter writer(*file);
  Dataset described;
  make(described, [&](Split& split, const Example& example) { writer.append(split, example); });
  if (progress) progress("keeping what was read", 0, 0);
  writer.finish(described, kept.key);
  file->sync();
  std::optional<Dataset> data = read_dataset(file->descriptor(), kept.key);
  if (!data) throw FileFault("keep " + kept.place.string(), "it reads back otherwise");
  if (kept.damaged)
    data->notes.push_back(fmt::format("{}: was damaged; the text was read again",
                                      printable(kept.place.string(), kWhole)));
  try {
    file->put_in_place();
  } catch (const FileFault& fault) {  // what was written can be used all the same
    data->notes.push_back(fmt::format("the tokenised text is not kept: {}", fault.what()));
  }
  return std::move(*data);
}

}  // namespace

bool is_cached(const std::string& identity) {
  const std::optional<fs::path> folder = cache_folder();
  return folder && is_there(place_of(*folder, sha256_hex(identity)));
}

Dataset cached_dataset(const std::string& identity,
                       const MakeDataset& make,
                       const Progress& progress) {
  const std::optional<fs::path> folder = cache_folder();
  if (!folder) return in_memory(make);
  const std::string key = sha256_hex(identity);
  Kept kept{place_of(*folder, key), key};
  std::string reason;
  try {
    return through_file(kept, make, progress);
  } catch (const FileFault& fault) {
    reason = fault.what();
  }
  Dataset data = in_memory(make);
  data.notes.push_back(fmt::format(
      "the tokenised text is held in memory: {}; SOFTALIGN_CACHE names another folder", reason));
  return data;
}

}  // namespace softalign
