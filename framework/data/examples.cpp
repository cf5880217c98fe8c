// The bytes of an example: links, source tokens, target tokens, source text, target text, and
// zeros up to a multiple of 8.
#include "framework/data/examples.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "framework/base/error.hpp"
#include "framework/data/mapped_file.hpp"

namespace softalign {
namespace {

constexpr std::size_t kAlignment = 8;

static_assert(sizeof(ExampleRow) == 32 && std::is_trivially_copyable_v<ExampleRow>);
static_assert(alignof(Link) == kAlignment && std::is_trivially_copyable_v<Link>);

void put(const void* data, std::size_t size, std::vector<std::byte>& bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

// As it lies in memory, but with zeros between its members: the same links are the same bytes.
std::array<std::byte, sizeof(Link)> bytes_of(const Link& link) {
  std::array<std::byte, sizeof(Link)> bytes{};
  std::memcpy(bytes.data() + offsetof(Link, source), &link.source, sizeof link.source);
  std::memcpy(bytes.data() + offsetof(Link, target), &link.target, sizeof link.target);
  std::memcpy(bytes.data() + offsetof(Link, sure), &link.sure, sizeof link.sure);
  return bytes;
}

}  // namespace

ExampleRow pack(const Example& example, std::vector<std::byte>& bytes) {
  const auto count = [](const auto& part) { return static_cast<std::uint32_t>(part.size()); };
  const ExampleRow row{bytes.size(),
                       count(example.source),
                       count(example.target),
                       count(example.links),
                       count(example.source_text),
                       count(example.target_text),
                       static_cast<std::uint32_t>(example.line)};
  for (const Link& link : example.links) put(bytes_of(link).data(), sizeof(Link), bytes);
  put(example.source.data(), example.source.size_bytes(), bytes);
  put(example.target.data(), example.target.size_bytes(), bytes);
  put(example.source_text.data(), example.source_text.size(), bytes);
  put(example.target_text.data(), example.target_text.size(), bytes);
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
  return row;
}

Example unpack(const ExampleRow& row, const std::byte* bytes) {
  const auto* links = reinterpret_cast<const Link*>(bytes + row.at);
  const auto* source = reinterpret_cast<const Token*>(links + row.links);
  const Token* target = source + row.source;
  const auto* source_text = reinterpret_cast<const char*>(target + row.target);
  const char* target_text = source_text + row.source_text;
  return {{source, row.source},
          {target, row.target},
          {links, row.links},
          {source_text, row.source_text},
          {target_text, row.target_text},
          row.line};
}

Examples::Examples(std::shared_ptr<const MappedFile> file, std::size_t rows_at, std::size_t count)
    : file_(std::move(file)),
      file_rows_(reinterpret_cast<const ExampleRow*>(file_->data() + rows_at), count) {}

void Examples::append(const Example& example) {
  if (file_) throw BugError("examples of a mapped file cannot be appended to");
  rows_.push_back(pack(example, bytes_));
}

ExampleRow Examples::row(std::size_t i) const {
  if (i >= size()) throw BugError("example {} of {}", i, size());
  if (!file_) return rows_[i];
  ExampleRow row;
  file_->read(file_rows_.data() + i, sizeof row, &row);
  return row;
}

void Examples::read_tokens(const ExampleRow& row, std::vector<Token>& tokens) const {
  tokens.resize(row.source + row.target);
  const std::byte* begin = bytes() + row.at + row.links * sizeof(Link);
  const std::size_t size = tokens.size() * sizeof(Token);
  if (file_)
    file_->read(begin, size, tokens.data());
  else
    std::copy_n(reinterpret_cast<const Token*>(begin), tokens.size(), tokens.begin());
}

void Examples::release() const {
  if (file_) file_->release();
}

const std::byte* Examples::bytes() const { return file_ ? file_->data() : bytes_.data(); }

}  // namespace softalign
