#include "framework/analysis/seeds.hpp"

#include <cmath>

#include "framework/base/array.hpp"
#include "framework/base/types.hpp"

namespace softalign {

Seeds over_seeds(const std::vector<double>& values) {
  Seeds seeds;
  seeds.count = std::ssize(values);
  const double n = static_cast<double>(values.size());
  const auto x = xt::adapt(values);
  seeds.mean = sum_of(x / n);
  if (values.size() > 1) seeds.deviation = std::sqrt(sum_of(xt::square(x - seeds.mean)) / (n - 1));
  return seeds;
}

int best_of(const std::vector<double>& values, bool higher_is_better) {
  int best = -1;
  double value = kUndefined;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == value) best = -1;
    const bool better = higher_is_better ? values[i] > value : values[i] < value;
    if (!std::isfinite(values[i]) || (std::isfinite(value) && !better)) continue;
    value = values[i];
    best = static_cast<int>(i);
  }
  return best;
}

}  // namespace softalign
