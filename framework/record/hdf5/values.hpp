// The contents of a record: attributes, and arrays of a few element types with named dimensions. Computation uses
// base/array.hpp instead.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "framework/base/json.hpp"  // JsonObject: attributes, each text, a number, a flag or a list of one of these
#include "framework/base/types.hpp"

namespace softalign {

// Row-major elements. The order of the alternatives is part of the journal's format: add at the
// end only.
using Values = std::variant<std::vector<float>,
                            std::vector<double>,
                            std::vector<std::int32_t>,
                            std::vector<std::int64_t>,
                            std::vector<std::uint8_t>,
                            std::vector<std::string>>;

inline Index size_of(const Values& values) {
  return std::visit([](const auto& v) { return static_cast<Index>(v.size()); }, values);
}

// An axis. Arrays of one group that name the same dimension share it, so its size must agree.
struct Dimension {
  std::string name;
  Index size = 0;
  bool operator==(const Dimension&) const = default;
};

// Returns the number of elements; -1 for invalid dimensions, below 0 or with a product that overflows.
inline Index size_of(const std::vector<Dimension>& dims) {
  Index size = 1;
  for (const Dimension& d : dims)
    if (d.size < 0 || __builtin_mul_overflow(size, d.size, &size)) return -1;
  return size;
}

}  // namespace softalign
