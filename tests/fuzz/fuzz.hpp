// Common parts of the fuzzers: bytes as choices, files in memory, and the errors that are not findings.
//
// A target is one file with LLVMFuzzerTestOneInput. clang links it with libFuzzer (preset fuzz); every
// other build links all of them into fuzz_replay. An exception that leaves a target is a finding.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "framework/base/error.hpp"
#include "tests/record/support.hpp"
#include "tests/runs/small_study.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace softalign::fuzz {

// A property that does not hold. It is not an Error, so that it does not count as a refusal.
inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

// Calls `work`. Returns false if it correctly refused its input, as a fault of the spec or the data.
template <class Work>
bool accepts(const Work& work) {
  try {
    work();
    return true;
  } catch (const Error& error) {
    const bool expected = error.code() == ExitCode::usage || error.code() == ExitCode::data;
    require(expected, error.what());
    return false;
  }
}

// Returns the lines of a text, and whether it was read to its end.
struct Lines {
  std::vector<std::string> lines;
  bool whole = false;
  bool operator==(const Lines&) const = default;
};

// Reads the bytes of an input one after the other; after the end all are 0.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size)
      : rest_(reinterpret_cast<const char*>(data), size) {}

  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  // Returns a number from 0 to n - 1; n is at most 256.
  std::size_t below(std::size_t n) { return number<std::uint8_t>() % n; }
  // Returns at most 65535 bytes.
  std::string text() { return std::string(take(number<std::uint16_t>())); }
  // Returns the text up to a line "---".
  std::string part() {
    constexpr std::string_view kMark = "---\n";
    const std::size_t end = std::min(rest_.find(kMark), rest_.size());
    const std::string part(take(end));
    take(kMark.size());
    return part;
  }
  std::string rest() { return std::string(take(rest_.size())); }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    const std::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(text.size());
    return text;
  }
  std::string_view rest_;
};

// Returns a folder of this process, in memory.
inline const std::filesystem::path& folder() {
  static const test::Scratch scratch;
  return scratch.path();
}

// Writes a file there.
inline std::filesystem::path file(const std::string& name, std::string_view bytes) {
  test::write_file(folder() / name, bytes);
  return folder() / name;
}

// Returns a spec as the base of studies and sweeps.
inline std::filesystem::path base_spec() { return file("base.yaml", test::kSmallSpec); }

using test::resolve_spec;

// Returns whether a text has a number with four digits before its point, or with an exponent.
inline bool has_large_number(std::string_view text) {
  std::size_t digits = 0;
  bool behind_point = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit ? !behind_point && digits == 3 : digits > 0 && (c == 'e' || c == 'E')) return true;
    behind_point = c == '.' || (behind_point && digit);
    digits = digit ? digits + 1 : 0;
  }
  return false;
}

// Returns whether all its numbers are small: a model of many units is valid, but takes seconds and gigabytes.
inline bool is_small(const Value& value) {
  if (value.is_scalar() && has_large_number(value.text)) return false;
  for (const Value& item : value.items)
    if (!is_small(item)) return false;
  for (const Value::Entry& entry : value.entries)
    if (!is_small(entry.value)) return false;
  return true;
}

}  // namespace softalign::fuzz
