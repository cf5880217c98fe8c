// Numbers of metrics as people read them.
#pragma once

#include <string>

#include "framework/base/types.hpp"

namespace softalign {

// "12.34", of a long number "5.88e+19".
std::string decimal_text(double value, int decimals);

// "12.34", "5.88e+19", "inf"; "0.0051", but "0.01" of a percentage; "-": not defined.
// metric: "bleu", "dev/bleu".
std::string metric_text(double value, const std::string& metric, int decimals = 2);

// "0.012", "<0.001"; "-": not known.
std::string p_text(double p);

// The line below a table that says what its intervals and p count.
std::string chance_text(Index resamples);

}  // namespace softalign
