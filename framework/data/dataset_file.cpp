#include "framework/data/dataset_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kPart = 1 << 20;  // bytes written, or read, at once
constexpr std::string_view kDatasetMagic = "softalign-data 4";
constexpr std::size_t kKey = 64;

// All sizes are multiples of 8 bytes, so that there is no padding.
struct Trailer {
  char magic[kDatasetMagic.size()] = {};
  char key[kKey] = {};
  std::uint64_t byte_order = 0x0102030405060708;
  std::uint64_t row_bytes = sizeof(ExampleRow);
  std::uint64_t json_at = 0;
  std::uint64_t size = 0;  // of everything before the trailer
  std::uint64_t sum = 0;   // of the same
  std::uint64_t own_sum = 0;

  std::uint64_t sum_of_this() const {
    Trailer blank = *this;
    blank.own_sum = 0;
    std::array<std::byte, 2 * Checksum::kBlock> bytes{};
    static_assert(sizeof(Trailer) == sizeof bytes);
    std::memcpy(bytes.data(), &blank, sizeof blank);
    Checksum checksum;
    checksum.add(bytes);
    return checksum.sum();
  }
};

// Returns false for errors, and if the file ends before `size` bytes.
bool read_at(int file, std::size_t at, void* bytes, std::size_t size) {
  auto* next = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t n = retry([&] { return pread(file, next, size, static_cast<off_t>(at)); });
    if (n <= 0) return false;
    next += n;
    at += usize(n);
    size -= usize(n);
  }
  return true;
}

std::optional<Trailer> read_trailer(int file, const std::string& key) {
  struct stat info {};
  if (fstat(file, &info) != 0 || info.st_size < static_cast<off_t>(sizeof(Trailer))) return {};
  Trailer trailer;
  const auto size = usize(info.st_size) - sizeof trailer;
  if (!read_at(file, size, &trailer, sizeof trailer)) return {};
  const bool ours =
      trailer.own_sum == trailer.sum_of_this() &&
      std::string_view(trailer.magic, kDatasetMagic.size()) == kDatasetMagic &&
      std::string_view(trailer.key, kKey) == key && trailer.byte_order == Trailer{}.byte_order &&
      trailer.row_bytes == Trailer{}.row_bytes && trailer.size == size && trailer.json_at <= size;
  return ours ? std::optional(trailer) : std::nullopt;
}

// Returns whether the checksum is right. Uses ordinary reads, so that nothing becomes resident and a failing disk
// causes an error instead of a signal.
bool is_whole(int file, const Trailer& trailer) {
  std::vector<std::byte> part(kPart);
  Checksum sum;
  for (std::size_t at = 0; at < trailer.size; at += part.size()) {
    part.resize(std::min(kPart, trailer.size - at));
    if (part.size() % Checksum::kBlock != 0 || !read_at(file, at, part.data(), part.size()))
      return false;
    sum.add(part);
  }
  return sum.sum() == trailer.sum;
}

Json json_of(const TextFacts& text) {
  return {text.option,
          text.examples,
          text.symbols,
          text.unknown,
          text.types,
          text.unknown_types,
          text.in_lower_case,
          text.with_points,
          text.composed,
          text.decomposed,
          text.marks,
          text.first_decomposed,
          text.first_mark};
}

TextFacts text_of(const Json& json) {
  const auto n = [&](std::size_t i) { return whole_number(json.at(2 + i)); };
  TextFacts text{json.at(0), n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8), n(9), n(10)};
  text.examples = json.at(1).get<std::vector<std::string>>();
  return text;
}

Json json_of(const Split& split, std::size_t rows_at, std::size_t rows) {
  const SplitCounts& c = split.counts;
  Json portions = Json::array(), texts = Json::array();
  for (const TextFacts& text : split.texts) texts.push_back(json_of(text));
  for (const Portion& portion : split.portions) portions.push_back(portion.examples);
  return {{"name", split.name},
          {"portions", portions},
          {"texts", texts},
          {"references", split.references},
          {"clusters", split.clusters},
          {"rows_at", rows_at},
          {"rows", rows},
          {"counts", {c.read, c.kept, c.dropped_too_long, c.dropped_empty, c.truncated}}};
}

std::uint64_t size_of(const ExampleRow& row, const FrameFormat& format) {
  return row.links * sizeof(Link) + source_bytes(row, format) +
         std::uint64_t{row.target} * sizeof(Token) + row.source_text + row.target_text;
}

// Throws DataError unless all rows, and everything that they refer to, are before `end`.
void check_rows(const MappedFile& file,
                std::size_t at,
                std::size_t count,
                const FrameFormat& format,
                std::size_t end) {
  if (at % alignof(ExampleRow) != 0 || at > end || count > (end - at) / sizeof(ExampleRow))
    throw DataError("rows outside the file");
  std::vector<ExampleRow> part(kPart / sizeof(ExampleRow));
  for (; count > 0; count -= part.size(), at += part.size() * sizeof(ExampleRow)) {
    part.resize(std::min(part.size(), count));
    file.read(file.data() + at, part.size() * sizeof(ExampleRow), part.data());
    for (const ExampleRow& row : part)
      if (row.at % alignof(Link) != 0 || row.at > end || size_of(row, format) > end - row.at)
        throw DataError("an example outside the file");
  }
}

// end: the end of the examples and rows. whole: they are known to be unchanged.
Split split_of(const Json& json,
               const std::shared_ptr<const MappedFile>& file,
               const FrameFormat& format,
               std::size_t end,
               bool whole) {
  const auto c = [&](std::size_t i) { return whole_number(json.at("counts").at(i)); };
  const std::size_t at = usize(whole_number(json.at("rows_at"))),
                    rows = usize(whole_number(json.at("rows")));
  if (!whole) check_rows(*file, at, rows, format, end);
  Split split{json.at("name"), Examples(file, at, rows, format), {c(0), c(1), c(2), c(3), c(4)}};
  Index portioned = 0;
  for (const Json& text : json.at("texts")) split.texts.push_back(text_of(text));
  for (const Json& portion : json.value("portions", Json::array())) {
    const Index examples = split.portions.emplace_back(Portion{whole_number(portion)}).examples;
    if (examples < 0) throw DataError("a portion of fewer examples than none");
    portioned += examples;
  }
  if (!split.portions.empty() && portioned != std::ssize(split.examples))
    throw DataError("portions of other examples");
  split.references = json.value("references", split.references);
  if (!split.references.empty() && split.references.size() != split.examples.size())
    throw DataError("references of other examples");
  split.clusters = json.value("clusters", split.clusters);
  if (!split.clusters.empty() && split.clusters.size() != split.examples.size())
    throw DataError("clusters of other examples");
  return split;
}

}  // namespace

HeldRows::~HeldRows() {
  if (file_ >= 0) close(file_);
}

void HeldRows::fail() const {
  throw MachineError("cannot use a temporary file in {}: {}",
                     printable(folder_.string(), kWhole),
                     std::strerror(errno));
}

void HeldRows::append(const ExampleRow& row) {
  part_.push_back(row);
  const std::string_view bytes(reinterpret_cast<const char*>(part_.data()),
                               part_.size() * sizeof(ExampleRow));
  if (bytes.size() < kPart) return;
  if (file_ < 0) {
    file_ = retry([&] { return open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); });
    if (file_ < 0) {  // the file system does not support O_TMPFILE
      std::string name = (folder_ / "rows-XXXXXX").string();
      file_ = mkostemp(name.data(), O_CLOEXEC);
      if (file_ < 0) fail();
      unlink(name.c_str());
    }
  }
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = retry([&] { return write(file_, bytes.data() + at, bytes.size() - at); });
    if (n < 0) fail();
    at += usize(n);
  }
  written_ += part_.size();
  part_.clear();
}

void HeldRows::for_parts(const std::function<void(std::span<const ExampleRow>)>& take) {
  std::vector<ExampleRow> part(std::min(written_, kPart / sizeof(ExampleRow)));
  for (std::size_t begin = 0; begin < written_; begin += part.size()) {
    const std::size_t bytes = part.size() * sizeof(ExampleRow);
    if (!read_at(file_, begin * sizeof(ExampleRow), part.data(), bytes)) fail();
    take(part);
  }
  take(part_);
}

void DatasetWriter::append(const Split& split, const Example& example) {
  ExampleRow row = pack(example, split.examples.format(), buffer_);
  row.at += written_;
  rows_.try_emplace(split.name, folder_).first->second.append(row);
  if (buffer_.size() >= kPart) write_out();
}

// Writes complete blocks only, so that every reader sums the same blocks.
void DatasetWriter::write_out() {
  const std::size_t whole = buffer_.size() / kPart * kPart;
  file_.append({reinterpret_cast<const char*>(buffer_.data()), whole});
  sum_.add(std::span(buffer_).first(whole));
  written_ += whole;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(whole));
}

void DatasetWriter::put(const void* data, std::size_t size) {
  std::span<const std::byte> rest(static_cast<const std::byte*>(data), size);
  while (!rest.empty()) {
    const auto part = rest.first(std::min(rest.size(), kPart));
    buffer_.insert(buffer_.end(), part.begin(), part.end());
    write_out();
    rest = rest.subspan(part.size());
  }
}

void DatasetWriter::finish(const Dataset& data, const std::string& key) {
  Json splits = Json::array();
  for (const Split* split : {&data.train, &data.dev, &data.test}) {
    HeldRows& rows = rows_.try_emplace(split->name, folder_).first->second;
    splits.push_back(json_of(*split, written_ + buffer_.size(), rows.size()));
    rows.for_parts([&](std::span<const ExampleRow> part) { put(part.data(), part.size_bytes()); });
  }
  Trailer trailer;
  trailer.json_at = written_ + buffer_.size();
  std::string rest = Json{{"splits", splits},
                          {"has_links", data.has_links},
                          {"frames", stored(data.frames())},
                          {"statistics", stored(data.statistics)},
                          {"source", data.source ? Json(data.source->serialize()) : Json()},
                          {"target", data.target->serialize()}}
                         .dump();
  const std::size_t end = trailer.json_at + rest.size();
  rest.append((Checksum::kBlock - end % Checksum::kBlock) % Checksum::kBlock, ' ');
  put(rest.data(), rest.size());
  file_.append({reinterpret_cast<const char*>(buffer_.data()), buffer_.size()});
  sum_.add(buffer_);
  trailer.size = written_ + buffer_.size();
  trailer.sum = sum_.sum();
  kDatasetMagic.copy(trailer.magic, kDatasetMagic.size());
  key.copy(trailer.key, kKey);
  trailer.own_sum = trailer.sum_of_this();
  file_.append({reinterpret_cast<const char*>(&trailer), sizeof trailer});
}

std::optional<Dataset> read_dataset(int file, const std::string& key, bool whole) {
  const std::optional<Trailer> trailer = read_trailer(file, key);
  if (!trailer || (!whole && !is_whole(file, *trailer))) return {};
  std::string rest(trailer->size - trailer->json_at, '\0');
  if (!read_at(file, trailer->json_at, rest.data(), rest.size())) return {};
  const auto mapped = std::make_shared<const MappedFile>(file, trailer->size);
  Dataset data;
  try {  // a forged file may have a correct checksum
    const Json json = read_json<Json>(rest);
    const auto frames = from_stored<FrameFormat>(json.at("frames"));
    if (!frames) data.source = load_vocabulary(json.at("source").get_ref<const std::string&>());
    data.target = load_vocabulary(json.at("target").get_ref<const std::string&>());
    data.train = split_of(json.at("splits").at(0), mapped, frames, trailer->json_at, whole);
    data.dev = split_of(json.at("splits").at(1), mapped, frames, trailer->json_at, whole);
    data.test = split_of(json.at("splits").at(2), mapped, frames, trailer->json_at, whole);
    data.has_links = json.at("has_links").get<bool>();
    data.statistics = from_stored<FrameStatistics>(json.at("statistics"));
    if (data.statistics.mean.size() != data.statistics.deviation.size() ||
        (data.statistics && std::ssize(data.statistics.mean) != frames.size))
      return {};
  } catch (const Json::exception&) {
    return {};
  } catch (const DataError&) {
    return {};
  }
  return data;
}

MappedFile::MappedFile(int file, std::size_t size)
    : size_(size), file_(fcntl(file, F_DUPFD_CLOEXEC, 0)) {
  if (file_ < 0) throw MachineError("cannot hold a file open: {}", std::strerror(errno));
  void* memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
  if (memory == MAP_FAILED) {
    const MachineError error("cannot map a file into memory: {}", std::strerror(errno));
    close(file_);
    throw error;
  }
  data_ = static_cast<const std::byte*>(memory);
}

MappedFile::~MappedFile() {
  munmap(const_cast<std::byte*>(data_), size_);
  close(file_);
}

void MappedFile::read(const void* begin, std::size_t size, void* to) const {
  off_t at = static_cast<const std::byte*>(begin) - data_;
  auto* next = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t n = retry([&] { return pread(file_, next, size, at); });
    if (n <= 0)
      throw MachineError(
          "the tokenised text in the cache can no longer be read ({}); run the same "
          "command again",
          n == 0 ? "the file was truncated" : std::strerror(errno));
    next += n;
    at += n;
    size -= usize(n);
  }
}

void MappedFile::release() const {
  madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);  // only a hint: may fail
}

}  // namespace softalign
