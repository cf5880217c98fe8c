// Fills a describable struct from a Value. Strict: every key must be an option, every value of its
// type and within its limits, every required option given; all faults of a spec are reported at
// once, each in a line "file:line:column: what; remedy".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

// The position where each given option was written, by path; options not in the map have their defaults. The name of
// a choice is at "model.encoder.type".
using Origins = std::map<std::string, Position>;

struct ReadResult {
  Origins origins;
  std::vector<std::string> notes;  // on options kept or dropped with a new `type`, or inactive
};

enum class Required { must_be_given, may_be_missing };

// `describe` is called once, with the filling visitor.
ReadResult read_options(const Value& root,
                        const std::function<void(OptionVisitor&)>& describe,
                        const std::string& what,
                        Required required = Required::must_be_given);

// Reads `root` into `options`, a struct with a describe or an AnyOptions; `what` names it in messages ("the
// spec"). Input files become absolute: relative to the file that names them, to the working directory for an
// override. Throws SpecError with all faults, in the order of their positions.
template <class T>
ReadResult read_options(const Value& root, T& options, const std::string& what) {
  return read_options(
      root, [&](OptionVisitor& visitor) { options.describe(visitor); }, what);
}

}  // namespace softalign
