// The contents of a record as xtensor arrays, for programs that read records. They are views, whose sources
// must outlive them.
#pragma once

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// The weights, [T, S].
inline auto as_array(const Alignment& matrix) {
  return xt::adapt(matrix.weights, std::array{matrix.target.size(), matrix.source.size()});
}

// The values, with the parameter's shape.
inline auto as_array(const StoredParameter& parameter) {
  return xt::adapt(parameter.values,
                   std::vector<std::size_t>(parameter.shape.begin(), parameter.shape.end()));
}

// The values, with the shape of the dimensions. Throws DataError if the elements are not of type T.
template <class T>
auto as_array(const Array& array) {
  const auto* values = std::get_if<std::vector<T>>(&array.values);
  if (values == nullptr) throw DataError("{}/{} has another element type", array.group, array.name);
  std::vector<std::size_t> shape;
  for (const Dimension& dimension : array.dims) shape.push_back(usize(dimension.size));
  return xt::adapt(*values, shape);
}

}  // namespace softalign
