// Metric values as text.
#pragma once

#include <string>

#include "framework/base/types.hpp"

namespace softalign {

// Returns "12.34", or "5.88e+19" for a long number.
std::string decimal_text(double value, int decimals);

// Returns "12.34", "5.88e+19", "inf"; "0.0051", but "0.01" for a percentage; "-" if undefined.
// metric: "bleu", "dev/bleu".
std::string metric_text(double value, const std::string& metric, int decimals = 2);

// Returns "0.012", "<0.001", or "-" if unknown.
std::string p_text(double p);

// Returns the line below a table that explains its intervals and p-values.
std::string chance_text(Index resamples);

}  // namespace softalign
