#include "framework/analysis/seeds.hpp"

#include <cmath>

namespace softalign {

Seeds over_seeds(const std::vector<double>& values) {
  Seeds seeds;
  seeds.count = std::ssize(values);
  const double n = static_cast<double>(values.size());
  for (const double value : values) seeds.mean += value / n;
  if (values.size() < 2) return seeds;
  double squares = 0;
  for (const double value : values) squares += (value - seeds.mean) * (value - seeds.mean);
  seeds.deviation = std::sqrt(squares / (n - 1));
  return seeds;
}

int best_of(const std::vector<double>& values, bool higher_is_better) {
  int best = -1;
  double value = std::nan("");
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
