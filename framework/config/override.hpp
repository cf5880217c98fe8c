// One change to a spec from outside its file: `model.encoder.units=64` sets an option,
// `~train.early_stopping` removes what the file says, so that the default holds again. How a value
// meets what is there: merge.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/config/value.hpp"

namespace softalign {

struct Override {
  std::string path;  // "model.encoder.units"
  bool remove = false;
  Value value;
  Position where;
};

// From the text of a command line; the value as parse_flow reads it. `where` names its origin in
// messages; a position with a line is a place in a file (a study's), and relative input files are
// then relative to that file. Throws SpecError.
Override parse_override(std::string_view text, const Position& where);

// The n-th override of a command line, n from 1; its origin is "override 1 ('a.b=c')".
Override numbered_override(std::string_view text, int n);
std::vector<Override> numbered_overrides(const std::vector<std::string>& texts);

// Throws SpecError when there is nothing to remove; adds a line to `notes` for what is replaced.
void apply(Value& root, const Override& change, std::vector<std::string>& notes);

}  // namespace softalign
