// A number along an axis (updates, distances), over runs that differ in nothing but the seed.
#pragma once

#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

inline constexpr std::size_t kDrawnPoints = 300;  // of a curve

struct Points {
  std::vector<double> at, values;  // NaN: none
};

// With a point wherever any of the runs has a value.
struct MeanCurve {
  std::vector<double> at, mean;
  std::vector<double> deviation;  // of the sample; NaN of one value
  std::vector<double> least, most;
  std::vector<Index> seeds;  // runs that have a value there
};

// At most kDrawnPoints, evenly: the first and the last are among them. Numbers of a model that diverged, whose squares no double
// holds, are no values.
MeanCurve mean_curve(const std::vector<Points>& runs);

// The mean of each `count` successive values, at the last of their places; what is left at the end is no point.
Points smoothed(const Points& points, Index count);

}  // namespace softalign
