#include "framework/analysis/mean_curve.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/analysis/run.hpp"
#include "framework/analysis/seeds.hpp"

namespace softalign {

MeanCurve mean_curve(const std::vector<Points>& runs) {
  constexpr double kLargest = 1e150;
  std::map<double, std::vector<double>> values;
  for (const Points& run : runs)
    for (std::size_t i = 0; i < run.at.size(); ++i)
      if (std::isfinite(run.at[i]) && std::abs(run.values[i]) < kLargest)
        values[run.at[i]].push_back(run.values[i]);
  std::vector<const std::pair<const double, std::vector<double>>*> points;
  for (const auto& point : values) points.push_back(&point);
  MeanCurve curve;
  for (const std::size_t i : thinned(points.size(), kDrawnPoints)) {
    const auto& [at, seeds] = *points[i];
    const Seeds over = over_seeds(seeds);
    const auto [least, most] = std::ranges::minmax(seeds);
    curve.at.push_back(at);
    curve.mean.push_back(over.mean);
    curve.deviation.push_back(over.count > 1 ? over.deviation : kUndefined);
    curve.least.push_back(least);
    curve.most.push_back(most);
    curve.seeds.push_back(over.count);
  }
  return curve;
}

Points smoothed(const Points& points, Index count) {
  Points known, made;
  for (std::size_t i = 0; i < points.at.size(); ++i)
    if (!std::isnan(points.values[i])) {
      known.at.push_back(points.at[i]);
      known.values.push_back(points.values[i]);
    }
  for (auto i = usize(count); i <= known.at.size(); i += usize(count)) {
    const std::vector<double> some(known.values.begin() + static_cast<std::ptrdiff_t>(i) - count,
                                   known.values.begin() + static_cast<std::ptrdiff_t>(i));
    made.at.push_back(known.at[i - 1]);
    made.values.push_back(over_seeds(some).mean);
  }
  return made;
}

}  // namespace softalign
