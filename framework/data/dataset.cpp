#include "framework/data/dataset.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/dataset_file.hpp"
#include "framework/data/text.hpp"

namespace softalign {

LengthBuckets::LengthBuckets(std::vector<Index> edges) : edges_(std::move(edges)) {
  Index previous = 0;
  for (const Index edge : edges_) {
    if (edge <= previous)
      throw SpecError("edge {} after {}; the edges must increase, from 1 or more", edge, previous);
    previous = edge;
  }
}

Index LengthBuckets::bucket_of(Index length) const {
  return std::lower_bound(edges_.begin(), edges_.end(), length) - edges_.begin();
}

std::string LengthBuckets::label(Index bucket) const {
  const auto place = usize(bucket);
  const Index first = bucket == 0 ? 1 : edges_.at(place - 1) + 1;
  if (place == edges_.size()) return fmt::format("{}+", first);
  const Index last = edges_.at(place);
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

// The bytes of an example: links, source tokens or frames, target tokens, source text, target text, and
// zeros up to a multiple of 8.

namespace {

constexpr std::size_t kAlignment = 8;

static_assert(sizeof(ExampleRow) == 32 && std::is_trivially_copyable_v<ExampleRow>);
static_assert(alignof(Link) == kAlignment && std::is_trivially_copyable_v<Link>);

void put(const void* data, std::size_t size, std::vector<std::byte>& bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// Returns the bytes of a link with zeros as padding, so that equal links have equal bytes.
std::array<std::byte, sizeof(Link)> bytes_of(const Link& link) {
  std::array<std::byte, sizeof(Link)> bytes{};
  std::memcpy(bytes.data() + offsetof(Link, source), &link.source, sizeof link.source);
  std::memcpy(bytes.data() + offsetof(Link, target), &link.target, sizeof link.target);
  std::memcpy(bytes.data() + offsetof(Link, sure), &link.sure, sizeof link.sure);
  return bytes;
}

}  // namespace

ExampleRow pack(const Example& example, const FrameFormat& format, std::vector<std::byte>& bytes) {
  const auto count = [](const auto& part) { return static_cast<std::uint32_t>(part.size()); };
  if (format ? !example.source.empty() || example.frames.size() % usize(format.size) != 0
             : !example.frames.empty())
    throw BugError("an example's source has another format than its split");
  const ExampleRow row{bytes.size(),
                       format ? count(example.frames) / static_cast<std::uint32_t>(format.size)
                              : count(example.source),
                       count(example.target),
                       count(example.links),
                       count(example.source_text),
                       count(example.target_text),
                       static_cast<std::uint32_t>(example.line)};
  for (const Link& link : example.links) put(bytes_of(link).data(), sizeof(Link), bytes);
  put(example.source.data(), example.source.size_bytes(), bytes);
  put(example.frames.data(), example.frames.size_bytes(), bytes);
  put(example.target.data(), example.target.size_bytes(), bytes);
  put(example.source_text.data(), example.source_text.size(), bytes);
  put(example.target_text.data(), example.target_text.size(), bytes);
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  return row;
}

std::uint64_t source_bytes(const ExampleRow& row, const FrameFormat& format) {
  static_assert(sizeof(Token) == sizeof(float));
  return std::uint64_t{row.source} * static_cast<std::uint64_t>(std::max<Index>(1, format.size)) *
         sizeof(Token);
}

Example unpack(const ExampleRow& row, const FrameFormat& format, const std::byte* bytes) {
  const auto* links = reinterpret_cast<const Link*>(bytes + row.at);
  const auto* source = reinterpret_cast<const std::byte*>(links + row.links);
  const auto* target = reinterpret_cast<const Token*>(source + source_bytes(row, format));
  const auto* source_text = reinterpret_cast<const char*>(target + row.target);
  const char* target_text = source_text + row.source_text;
  Example example{.target = {target, row.target},
                  .links = {links, row.links},
                  .source_text = {source_text, row.source_text},
                  .target_text = {target_text, row.target_text},
                  .line = row.line};
  if (format)
    example.frames = {reinterpret_cast<const float*>(source), row.source * usize(format.size)};
  else
    example.source = {reinterpret_cast<const Token*>(source), row.source};
  return example;
}

Examples::Examples(std::shared_ptr<const MappedFile> file,
                   std::size_t rows_at,
                   std::size_t count,
                   const FrameFormat& format)
    : format_(format),
      file_(std::move(file)),
      file_rows_(reinterpret_cast<const ExampleRow*>(file_->data() + rows_at), count) {}

void Examples::append(const Example& example) {
  if (file_) throw BugError("cannot append to the examples of a mapped file");
  rows_.push_back(pack(example, format_, bytes_));
}

ExampleRow Examples::row(std::size_t i) const {
  if (i >= size()) throw BugError("example {} of {}", i, size());
  if (!file_) return rows_[i];
  ExampleRow row;
  file_->read(file_rows_.data() + i, sizeof row, &row);
  return row;
}

void Examples::read_tokens(const ExampleRow& row, std::vector<Token>& tokens) const {
  tokens.resize((format_ ? 0 : row.source) + row.target);
  const std::byte* const source = bytes() + row.at + row.links * sizeof(Link);
  read(format_ ? source + source_bytes(row, format_) : source,
       tokens.size() * sizeof(Token),
       tokens.data());
}

void Examples::read_frames(const ExampleRow& row, float* frames) const {
  read(bytes() + row.at + row.links * sizeof(Link), source_bytes(row, format_), frames);
}

void Examples::read(const std::byte* from, std::size_t size, void* to) const {
  if (file_)
    file_->read(from, size, to);
  else if (size > 0)
    std::memcpy(to, from, size);
}

void Examples::release() const {
  if (file_) file_->release();
}

const std::byte* Examples::bytes() const { return file_ ? file_->data() : bytes_.data(); }

TargetFormat::TargetFormat(Index of_symbols) : symbols(of_symbols), values(usize(of_symbols)) {
  for (Index v = kSpecials; v < symbols; ++v) values[usize(v)] = static_cast<double>(v - kSpecials);
}

TargetFormat::TargetFormat(const Vocabulary& target)
    : symbols(target.size()), values(usize(target.size())) {
  for (Index v = kSpecials; v < symbols; ++v) {
    const std::string& text = target.symbol(static_cast<Token>(v));
    if (const auto number = number_in(text)) {
      values[usize(v)] = *number;
      continue;
    }
    not_a_number = text;
    values.clear();
    return;
  }
}

FrameStatistics statistics_of(Index size, bool deviations, const EachArray& each) {
  constexpr double kConstant = 1e-7;  // deviations below this share of the mean are rounding errors
  // Returns the mean of each number, or of its squared distance from `around`.
  const auto mean_of = [&](std::span<const double> around) {
    std::vector<double> sums(usize(size));
    std::size_t count = 0;
    each([&](std::span<const float> frames) {
      for (std::size_t i = 0; i < frames.size(); ++i) {
        const std::size_t k = i % sums.size();
        const double x = static_cast<double>(frames[i]);
        sums[k] += around.empty() ? x : (x - around[k]) * (x - around[k]);
      }
      count += frames.size() / sums.size();
    });
    for (double& sum : sums) sum /= static_cast<double>(count);
    return sums;
  };
  FrameStatistics found;
  found.mean = mean_of({});
  found.deviation.assign(found.mean.size(), 1);
  if (!deviations) return found;
  const std::vector<double> variance = mean_of(found.mean);
  for (std::size_t k = 0; k < variance.size(); ++k)
    if (const double deviation = std::sqrt(variance[k]);
        deviation > kConstant * std::abs(found.mean[k]))
      found.deviation[k] = deviation;
  return found;
}

std::string fingerprint(std::span<const float> frames) {
  const auto* bytes = reinterpret_cast<const char*>(frames.data());
  return sha256_hex({bytes, frames.size_bytes()}).substr(0, 8);
}

void normalise_frames(std::span<float> frames,
                      const FrameFormat& format,
                      const FrameStatistics& statistics) {
  if (std::ssize(frames) % format.size != 0)
    throw DataError(
        "{} numbers are not a multiple of the frame size {}", frames.size(), format.size);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::size_t frame = i / usize(format.size), k = i % usize(format.size);
    const float raw = frames[i];
    if (statistics)
      frames[i] = static_cast<float>((static_cast<double>(raw) - statistics.mean[k]) /
                                     statistics.deviation[k]);
    if (!std::isfinite(frames[i]))
      throw DataError("number {} of frame {} (from 0) is {}{}; frames must be finite",
                      k,
                      frame,
                      raw,
                      std::isfinite(raw) ? ", which is too large to normalise"
                      : std::isinf(raw)  ? " as float32, whose largest number is 3.4e38"
                                         : "");
  }
}

std::string line_of_frames(std::span<const float> frames) {
  return fmt::format("{}", fmt::join(frames, " "));
}

std::vector<float> frames_of_line(std::string_view line, const FrameFormat& format) {
  std::vector<float> frames;
  for (const std::string_view word : split_words(line)) {
    float number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc::result_out_of_range)
      throw DataError("'{}' is out of the range of float32", printable(word));
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number))
      throw DataError("'{}' is not a number; sources of this model are frames of {} numbers each",
                      printable(word),
                      format.size);
    frames.push_back(number);
  }
  if (std::ssize(frames) % format.size != 0)
    throw DataError(
        "{} numbers are not a multiple of the frame size {}", frames.size(), format.size);
  return frames;
}

}  // namespace softalign
