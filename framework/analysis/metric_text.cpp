#include "framework/analysis/metric_text.hpp"

#include <cmath>

#include "framework/analysis/run.hpp"
#include "framework/base/text.hpp"

namespace softalign {

std::string decimal_text(double value, int decimals) {
  constexpr double kLong = 1e7;
  return std::abs(value) < kLong ? fmt::format("{:.{}f}", value, decimals)
                                 : fmt::format("{:.3g}", value);
}

std::string metric_text(double value, const std::string& metric, int decimals) {
  if (std::isnan(value)) return "-";
  const bool small = value != 0 && std::abs(value) < 0.1;
  return small && !in_percent(metric) ? fmt::format("{:.2g}", value)
                                      : decimal_text(value, decimals);
}

std::string p_text(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.001 ? "<0.001" : fmt::format("{:.3f}", p);
}

std::string chance_text(Index resamples) {
  return fmt::format(
      "95 %, p     both seeds and test sentences vary ({} resamples of the sentences)\n",
      with_commas(resamples));
}

}  // namespace softalign
