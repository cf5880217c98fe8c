// The one door to xtensor: its headers moved between releases, so every include of it stands here.
#pragma once

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/misc/xsort.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>
#endif

#include <array>

#include "framework/base/view.hpp"

namespace softalign {

// An xtensor expression over memory that someone else owns.
template <std::size_t Rank>
auto as_xtensor(View view) {
  std::array<std::size_t, Rank> shape{};
  for (std::size_t axis = 0; axis < Rank; ++axis)
    shape[axis] = static_cast<std::size_t>(view.shape[static_cast<int>(axis)]);
  return xt::adapt(view.data, static_cast<std::size_t>(view.size()), xt::no_ownership(), shape);
}

}  // namespace softalign
