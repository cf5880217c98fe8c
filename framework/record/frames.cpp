#include "framework/record/frames.hpp"

#include "framework/record/bytes.hpp"

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

}  // namespace

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
  return frame;
}

}  // namespace softalign
