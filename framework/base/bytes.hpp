// Packs numbers and text into little-endian bytes, and unpacks them with bounds checks.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {

static_assert(std::endian::native == std::endian::little,
              "records are written as memory holds them");

class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view s) {
    number<std::uint64_t>(s.size());
    bytes_.append(s);
  }
  template <class T>
  void list(const std::vector<T>& v) {
    number<std::uint64_t>(v.size());
    if constexpr (std::is_arithmetic_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
    } else {
      for (const T& s : v) text(s);
    }
  }
  void raw(std::string_view s) { bytes_.append(s); }
  void reserve(std::size_t size) { bytes_.reserve(size); }  // total, in bytes
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Every function throws DataError when the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(count(1))); }
  template <class T>
  std::vector<T> list() {
    if constexpr (std::is_arithmetic_v<T>) {
      std::vector<T> v(count(sizeof(T)));
      const std::string_view bytes = take(v.size() * sizeof(T));
      if (!v.empty()) std::memcpy(v.data(), bytes.data(), bytes.size());
      return v;
    } else {
      std::vector<T> v(count(sizeof(std::uint64_t)));
      for (T& s : v) s = text();
      return v;
    }
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size())
      throw DataError("truncated: {} bytes wanted, {} left", size, rest_.size());
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  // Reads the number of items that follow, each of at least `least` bytes, and checks it before
  // memory is allocated.
  std::size_t count(std::size_t least) {
    const auto n = number<std::uint64_t>();
    if (n > rest_.size() / least)
      throw DataError("truncated: {} items announced, {} bytes left", n, rest_.size());
    return usize(n);
  }
  std::string_view rest_;
};

}  // namespace softalign
