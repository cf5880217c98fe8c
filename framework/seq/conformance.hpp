// Conformance tests, which every registered plugin must pass: right gradients, no influence
// of padding or of the other sentences in the batch, weights that sum to 1, the same bits twice, options that
// survive being written and read. A new plugin is covered by being registered (metrics have laws of their own:
// eval/metric_conformance.hpp). The library built in double makes the gradient check sharp; in float it still
// finds mistakes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

struct ConformanceResult {
  std::string check;  // "gradients"
  bool passed = false;
  std::string detail;  // what was measured, or what is wrong
};

inline constexpr const char* kNoException = "it throws something other than a std::exception";

// Runs all checks that the kind has, with the plugin's default options. allocations: how often
// memory was asked for so far, when the caller counts (tests do); empty: that check is left out.
// Throws SpecError for an unknown kind or name.
std::vector<ConformanceResult> check_conformance(std::string_view kind,
                                                 std::string_view name,
                                                 const std::function<Index()>& allocations = {});

}  // namespace softalign
