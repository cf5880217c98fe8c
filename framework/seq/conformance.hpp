// Conformance tests, which every registered plugin must pass: correct gradients, no influence of padding or of
// other sentences in the batch, weights that sum to 1, identical bits in two runs, options that can be written
// and read back. For metrics see eval/metric_conformance.hpp. The gradient check is precise in the double
// build; in float it still finds mistakes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/options.hpp"

namespace softalign {

struct ConformanceResult {
  std::string check;  // "gradients"
  bool passed = false;
  std::string detail;  // the measurement, or the error
};

inline constexpr const char* kNoException = "it throws something other than a std::exception";

// Runs all checks of the kind, with the plugin's default options. allocations: the number of
// allocations so far, if the caller counts them (tests do); empty: skips that check. Throws
// SpecError for an unknown kind or name.
std::vector<ConformanceResult> check_conformance(std::string_view kind,
                                                 std::string_view name,
                                                 const std::function<Index()>& allocations = {});
// Same, with the options in `choice`, if it has any.
std::vector<ConformanceResult> check_conformance(const Choice& choice,
                                                 const std::function<Index()>& allocations = {});

}  // namespace softalign
