#include "framework/data/read_vocabularies.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/text.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {
namespace {

constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";  // the first bytes of an HDF5 file

bool is_record(const std::filesystem::path& path) {
  std::error_code unreadable;  // reported when the file is read
  if (std::filesystem::is_directory(path, unreadable)) return is_run_folder(path);
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;
  std::string start(kHdf5.size(), '\0');
  start.resize(RegularFile(path).read(start.data(), start.size(), 0));
  return start == kHdf5;
}

// Returns whether another program wrote an HDF5 file, such as one with frames. Throws DataError if it is corrupt.
bool is_foreign(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) return false;
  const JsonObject attributes = Hdf5Reader(path).attributes("");
  const auto format = attributes.find("format");
  return format == attributes.end() || !format->is_string() ||
         !format->get_ref<const std::string&>().starts_with("softalign");
}

// Returns the source and target vocabularies as text; the first is empty if sources are frames.
std::vector<std::string> recorded_texts(const std::filesystem::path& path) {
  const Record record(path);
  const bool frames = record.attribute<Index>("data", "frame_size").has_value();
  return {frames ? "" : record.text("data", "source_vocabulary"),
          record.text("data", "target_vocabulary")};
}

bool is_plain_text(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  return bytes.starts_with("\x1f\x8b") ||  // gzip, as TextFile reads it
         (bytes.find('\0') == bytes.npos && find_invalid_utf8(bytes) == bytes.npos);
}

std::shared_ptr<const Vocabulary> read_words(const std::filesystem::path& path) {
  TextFile file(path.string());
  std::vector<std::string> words;
  std::map<std::string, Index> lines;
  for (std::string line; file.next(line);) {
    const auto refuse = [&](const std::string& fault) {
      return DataError("{}:{}: {}", printable(path.string(), kWhole), file.line_number(), fault);
    };
    if (std::ranges::find(kSpecialNames, line) != std::end(kSpecialNames)) continue;
    if (split_words(line).empty()) throw refuse("the line is empty; each has one word");
    if (split_words(line).size() != 1)
      throw refuse(fmt::format("'{}' is not one word", printable(line)));
    const std::string& word = words.emplace_back(split_words(line).front());
    if (const auto [known, is_new] = lines.emplace(word, file.line_number()); !is_new)
      throw refuse(fmt::format("'{}' is in line {}, too", printable(word), known->second));
  }
  return std::make_shared<WordVocabulary>("words", words);
}

}  // namespace

Vocabularies read_vocabularies(const std::filesystem::path& path) {
  try {
    Vocabularies both;
    if (is_record(path)) {
      const std::vector<std::string> texts = recorded_texts(path);
      if (!texts[0].empty()) both.source = load_vocabulary(texts[0]);
      both.target = texts[0] == texts[1] ? both.source : load_vocabulary(texts[1]);
    } else {
      both.source = both.target =
          is_plain_text(path) ? read_words(path) : sentencepiece_of(read_file(path));
    }
    return both;
  } catch (const DataError& error) {
    const std::string name = printable(path.string(), kWhole);
    if (std::string_view(error.what()).starts_with(name)) throw;
    throw DataError("{}: {}", name, error);
  }
}

std::string input_hash(const InputFile& file, std::string (*of_bytes)(const InputFile&)) {
  const auto of_record = [](const std::filesystem::path& path) {
    const std::vector<std::string> texts = recorded_texts(path);
    return sha256_hex(texts[0] + texts[1]);
  };
  return is_record(file.path) && !is_foreign(file.path) ? hash_of(file, of_record) : of_bytes(file);
}

}  // namespace softalign
