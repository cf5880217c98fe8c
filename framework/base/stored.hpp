// Structs as JSON or CBOR. A struct lists its stored members once, in `describe`, like options; this list is
// used to write, read and check it.
//
//   struct Owner {
//     std::string host;
//     Index attempt = 0;
//     template <class V> void describe(V& v) {
//       v("host", host);
//       v("attempt", attempt);
//     }
//   };
//
// Types: text, whole numbers, double, bool, types with to_string and from_string (enums), std::vector, std::map from
// text (an object; JSON searches its members one by one, so not for thousands), numbers with names, std::pair,
// std::optional (a member that is absent when empty), and structs with a `describe`. NaN and infinities, which JSON
// lacks, become null, "inf" and "-inf". Properties of options (config/options.hpp) are not stored.
#pragma once

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"

namespace softalign {

// Types that are stored as text.
template <class T>
concept StoredAsText = requires(const T& value, T& read, std::string_view text) {
  to_string(value);
  { from_string(text, read) } -> std::same_as<bool>;
};

// Writes members in the order in which they are described. packed: without names, and lists of numbers as bytes.
class StoredWriter {
 public:
  using Json = JsonObject;

  explicit StoredWriter(bool packed = false)
      : packed_(packed), json_(packed ? Json::array() : Json::object()) {}

  template <class T, class... About>
  void operator()(const char* name, const T& value, const About&...) {
    if (packed_)
      json_.push_back(of(value));
    else
      json_[name] = of(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) return (*this)(name, *value);
    if (packed_) json_.push_back(Json());
  }

  template <class T>
  Json of(const T& value) const {
    if constexpr (StoredAsText<T>) {
      return std::string(to_string(value));
    } else if constexpr (std::floating_point<T>) {
      if (std::isfinite(value) || packed_) return value;
      return std::isnan(value) ? Json() : Json(value > 0 ? "inf" : "-inf");
    } else if constexpr (requires(T & t, StoredWriter & v) { t.describe(v); }) {
      StoredWriter inner(packed_);
      const_cast<T&>(value).describe(inner);
      return std::move(inner.json_);
    } else {
      return value;
    }
  }
  template <class T>
  Json of(const std::vector<T>& values) const {
    if constexpr (std::is_arithmetic_v<T>)
      if (packed_) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
        return Json::binary({bytes, bytes + values.size() * sizeof(T)});
      }
    Json json = Json::array();
    for (const T& value : values) json.push_back(of(value));
    return json;
  }
  Json of(const std::vector<std::pair<std::string, double>>& values) const {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[name] = of(value);
    return json;
  }
  template <class T>
  Json of(const std::map<std::string, T>& values) const {
    Json json = Json::object();
    for (const auto& [name, value] : values) json[name] = of(value);
    return json;
  }
  template <class A, class B>
  Json of(const std::pair<A, B>& pair) const {
    return {of(pair.first), of(pair.second)};
  }

 private:
  bool packed_;
  Json json_;
};

// Reads JSON from StoredWriter; throws the JSON library's exceptions or DataError for any other JSON.
class StoredReader {
 public:
  using Json = JsonObject;

  explicit StoredReader(const Json& json) : json_(json) {}

  template <class T, class... About>
  void operator()(const char* name, T& value, const About&...) {
    read(json_.is_array() ? json_.at(member_++) : json_.at(name), value);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    value.reset();
    const bool has = json_.is_array() ? !json_.at(member_).is_null() : json_.contains(name);
    if (has)
      (*this)(name, value.emplace());
    else
      ++member_;
  }

  template <class T>
  static void read(const Json& json, T& value) {
    if constexpr (StoredAsText<T>) {
      const auto& text = json.get_ref<const std::string&>();
      if (!from_string(text, value)) throw DataError("'{}' is unknown", printable(text));
    } else if constexpr (std::same_as<T, bool>) {
      value = json.is_number_integer() ? whole_number(json) != 0
                                       : json.get<bool>();  // HDF5 stores 0 and 1
    } else if constexpr (std::integral<T>) {
      value = static_cast<T>(whole_number(json));
    } else if constexpr (std::floating_point<T>) {
      constexpr T kInfinity = std::numeric_limits<T>::infinity();
      value = json.is_null()         ? static_cast<T>(kUndefined)
              : json == Json("inf")  ? kInfinity
              : json == Json("-inf") ? -kInfinity
              : json.is_number()     ? json.get<T>()
                                     : throw DataError("not a number");
    } else if constexpr (requires(T & t, StoredReader & v) { t.describe(v); }) {
      StoredReader inner(json);
      value.describe(inner);
    } else {
      value = json.get_ref<const T&>();
    }
  }
  template <class T>
  static void read(const Json& json, std::vector<T>& values) {
    values.clear();
    if constexpr (std::is_arithmetic_v<T>)
      if (json.is_binary()) {
        const auto& bytes = json.get_binary();
        if (bytes.size() % sizeof(T) != 0) throw DataError("a list of numbers is truncated");
        values.resize(bytes.size() / sizeof(T));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
        return;
      }
    if (!json.is_array()) throw DataError("not a list");
    for (const Json& item : json) read(item, values.emplace_back());
  }
  static void read(const Json& json, std::vector<std::pair<std::string, double>>& values) {
    values.clear();
    if (!json.is_object()) throw DataError("not an object");
    for (const auto& [name, value] : json.items()) read(value, values.emplace_back(name, 0).second);
  }
  template <class T>
  static void read(const Json& json, std::map<std::string, T>& values) {
    values.clear();
    if (!json.is_object()) throw DataError("not an object");
    for (const auto& [name, value] : json.items()) read(value, values[name]);
  }
  template <class A, class B>
  static void read(const Json& json, std::pair<A, B>& pair) {
    read(json.at(0), pair.first);
    read(json.at(1), pair.second);
  }

 private:
  const Json& json_;
  std::size_t member_ = 0;  // the next one, in packed JSON
};

template <class T>
JsonObject stored(const T& value) {
  return StoredWriter().of(value);
}

// Throws DataError with the reason for JSON that `stored` cannot have written.
template <class T>
T from_stored(const JsonObject& json) {
  T value;
  try {
    StoredReader::read(json, value);
  } catch (const nlohmann::json::exception& error) {
    throw DataError("{}", printable(error.what()));
  }
  return value;
}

// `stored` and `from_stored` for the text of a file.
template <class T>
std::string stored_text(const T& value) {
  return stored(value).dump(2) + "\n";
}
template <class T>
T from_stored_text(std::string_view text) {
  return from_stored<T>(read_json<JsonObject>(text));
}

// `stored` and `from_stored` for CBOR in caches, with lists of numbers in the byte order of the machine.
template <class T>
std::string packed(const T& value) {
  std::string bytes;
  JsonObject::to_cbor(StoredWriter(true).of(value), bytes);
  return bytes;
}
template <class T>
T unpacked(std::string_view bytes) {
  return from_stored<T>(JsonObject::from_cbor(bytes, /*strict=*/true, /*allow_exceptions=*/false));
}

}  // namespace softalign
