// Checks of options that are numbers: they are read as specs read theirs (config/scalar.hpp), so that 010,
// 0x10, nan and what fits in no 64 bits are refused. CLI11 alone would read them as C does.
#pragma once

#include <CLI/CLI.hpp>

#include "framework/config/options.hpp"

namespace softalign::app {

// For `CLI::Option::check`; also of each item of a list.
CLI::Validator integer(const Limits& limits = at_least(0));
CLI::Validator number(const Limits& limits);

}  // namespace softalign::app
