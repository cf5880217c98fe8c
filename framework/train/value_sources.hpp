// Where a preset has its values from, as its comments say: every value has a word of kSourceWords behind
// it on its line, or first in the comment lines just above it.
//
//   units: 1000                 # paper, section 4.2
//   # assumed: the paper does not say
//   dev: {source: dev.en, target: dev.fr}
//
// Asked are the values of the task, the model, its training and the search, defaults among them, and what
// else is written of `init` and `evaluate`; what is null or has no effect needs no word unless it is written.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

inline constexpr std::array kSourceWords = {"paper", "authors' code", "assumed"};

struct ValueSources {
  Index values = 0;                  // that were asked
  std::vector<std::string> without;  // those that say nothing, a line each, with its place
};

// Reads the files of the spec again, for their comments; `file` is the spec's own.
ValueSources value_sources(const ResolvedSpec<Spec>& resolved, const std::string& file);

}  // namespace softalign
