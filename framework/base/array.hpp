// The only header that includes xtensor, because its headers moved between releases.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xsort.hpp>
#include <xtensor/views/xindex_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

#include <array>
#include <numeric>

#include "framework/base/types.hpp"
#include "framework/base/view.hpp"

namespace softalign {

// Stored numbers: recorded, measured or counted.
using Array1d = xt::xtensor<double, 1>;
using Array2d = xt::xtensor<double, 2>;

// An xtensor expression over memory that it does not own.
template <std::size_t Rank>
auto as_xtensor(View view) {
  std::array<std::size_t, Rank> shape{};
  for (std::size_t axis = 0; axis < Rank; ++axis)
    shape[axis] = usize(view.shape[static_cast<int>(axis)]);
  return xt::adapt(view.data, usize(view.size()), xt::no_ownership(), shape);
}

// The sum of all numbers of an expression, added in order, which gives the same bits on every machine
// (xt::sum guarantees no order). 0 for an empty expression, which has no valid iterators.
template <class Expression>
auto sum_of(const Expression& numbers) {
  typename std::decay_t<Expression>::value_type none{};
  return numbers.size() == 0 ? none : std::accumulate(numbers.begin(), numbers.end(), none);
}

}  // namespace softalign
