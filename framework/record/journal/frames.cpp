#include "framework/record/journal/frames.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/bytes.hpp"
#include "framework/base/json.hpp"
#include "framework/base/text.hpp"

namespace softalign {
namespace {

// One list of fields per frame serves both directions: `pack(frame, coder)` with a Packer or an
// Unpacker.
struct Packer {
  ByteWriter out;
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      out.number(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out.text(value);
    } else {
      out.list(value);
    }
  }
  void operator()(const NamedNumbers& values) {
    out.number<std::uint64_t>(values.size());
    for (const auto& [name, value] : values) {
      out.text(name);
      out.number(value);
    }
  }
  void operator()(const std::vector<Dimension>& dims) {
    out.number<std::uint64_t>(dims.size());
    for (const Dimension& d : dims) {
      out.text(d.name);
      out.number(d.size);
    }
  }
  void operator()(const Values& values) {
    out.number(static_cast<std::uint8_t>(values.index()));
    std::visit([&](const auto& v) { out.list(v); }, values);
  }
};

template <std::size_t I = 0>
Values read_values(std::size_t type, ByteReader& in) {
  if constexpr (I < std::variant_size_v<Values>) {
    if (type != I) return read_values<I + 1>(type, in);
    return in.list<typename std::variant_alternative_t<I, Values>::value_type>();
  } else {
    throw DataError("unknown element type {}", type);
  }
}

struct Unpacker {
  ByteReader in;
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
      value = in.number<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = in.text();
    } else {
      value = in.list<typename T::value_type>();
    }
  }
  void operator()(NamedNumbers& values) {
    for (auto n = in.number<std::uint64_t>(); n > 0; --n) {
      std::string name = in.text();
      values.emplace_back(std::move(name), in.number<double>());
    }
  }
  void operator()(std::vector<Dimension>& dims) {
    for (auto n = in.number<std::uint64_t>(); n > 0; --n) {
      std::string name = in.text();
      dims.push_back({std::move(name), in.number<Index>()});
    }
  }
  void operator()(Values& values) { values = read_values(in.number<std::uint8_t>(), in); }
};

template <class F, class... Fields>
void each(F& f, Fields&... fields) {
  (f(fields), ...);
}

template <class S, class F>
void pack(S& s, F& f) {
  using T = std::remove_const_t<S>;
  if constexpr (std::is_same_v<T, Scalars>) each(f, s.series, s.update, s.wall_time, s.values);
  if constexpr (std::is_same_v<T, Alignment>)
    each(f, s.module, s.update, s.sentence, s.head, s.source, s.target, s.weights, s.gold);
  if constexpr (std::is_same_v<T, Array>)
    each(f, s.group, s.name, s.update, s.dims, s.values, s.attributes);
  if constexpr (std::is_same_v<T, Attributes>) each(f, s.path, s.json);
  if constexpr (std::is_same_v<T, Event>) each(f, s.time, s.text);
  if constexpr (std::is_same_v<T, CheckpointMark>) each(f, s.update, s.file, s.sha256);
  if constexpr (std::is_same_v<T, Rewind>) each(f, s.update, s.file);
  if constexpr (std::is_same_v<T, End>) each(f, s.time, s.state);
}

template <std::size_t I = 0>
Frame decode_as(std::size_t kind, Unpacker& in) {
  if constexpr (I < std::variant_size_v<Frame>) {
    if (kind != I + 1) return decode_as<I + 1>(kind, in);
    std::variant_alternative_t<I, Frame> frame;
    pack(frame, in);
    return frame;
  } else {
    throw DataError("unknown frame kind {}", kind);
  }
}

std::string fault_of_name(const char* what, const std::string& name) {
  const bool fine = !name.empty() && name.find('/') == std::string::npos && is_text(name);
  return fine ? "" : fmt::format("'{}' cannot be the name of {} in a record", name, what);
}

std::string fault_of_attributes(const std::string& path, const std::string& json) {
  const auto object = read_json<nlohmann::json>(json);
  if (!is_text(path)) return "attributes without the name of their object";
  if (!object.is_object())
    return fmt::format("attributes of '{}' are not a JSON object: {}", path, json);
  const auto simple = [](const auto& value) { return value.is_primitive(); };
  for (const auto& [name, value] : object.items())
    if (!simple(value) && !(value.is_array() && std::all_of(value.begin(), value.end(), simple)))
      return fmt::format("attribute '{}' of '{}' is neither a value nor a list", name, path);
  return "";
}

std::string fault_in(const Scalars& s) {
  std::string fault = is_text(s.series) ? "" : "a series whose name is not text";
  for (const auto& [name, value] : s.values)
    if (fault.empty()) fault = fault_of_name("a value", name);
  return fault;
}

std::string fault_in(const Alignment& a) {
  const std::size_t size = a.source.size() * a.target.size();
  if (a.weights.size() == size && (a.gold.empty() || a.gold.size() == size))
    return fault_of_name("an alignment", a.module);
  return fmt::format(
      "alignment '{}' of sentence {} has {} weights and {} gold links for {} x {} words",
      a.module,
      a.sentence,
      a.weights.size(),
      a.gold.size(),
      a.target.size(),
      a.source.size());
}

std::string fault_in(const Array& a) {
  std::string fault = fault_of_name("a dataset", a.name);
  for (const Dimension& d : a.dims)
    if (fault.empty()) fault = fault_of_name("a dimension", d.name);
  if (!fault.empty()) return fault;
  const std::string path = a.group + "/" + a.name;
  if (size_of(a.dims) != size_of(a.values))
    return fmt::format(
        "'{}' has {} values for {} elements", path, size_of(a.values), size_of(a.dims));
  return fault_of_attributes(path, a.attributes);
}

std::string fault_in(const Attributes& a) { return fault_of_attributes(a.path, a.json); }

std::string fault_in(const CheckpointMark& mark) {
  return fault_of_name("a checkpoint", mark.file);
}

std::string fault_in(const End& end) {
  return is_text(end.state) ? "" : "an end whose state is not text";
}

template <class Other>
std::string fault_in(const Other&) {
  return "";
}

}  // namespace

std::string fault_of(const Frame& frame) {
  return std::visit([](const auto& f) { return fault_in(f); }, frame);
}

std::uint8_t kind_of(const Frame& frame) { return static_cast<std::uint8_t>(frame.index() + 1); }

std::string encode(const Frame& frame) {
  Packer packer;
  std::visit([&](const auto& f) { pack(f, packer); }, frame);
  return packer.out.bytes();
}

Frame decode(std::uint8_t kind, std::string_view payload) {
  Unpacker unpacker{ByteReader(payload)};
  Frame frame = decode_as(kind, unpacker);
  if (unpacker.in.left() != 0) throw DataError("{} bytes too many", unpacker.in.left());
  if (const std::string fault = fault_of(frame); !fault.empty()) throw DataError("{}", fault);
  return frame;
}

}  // namespace softalign
