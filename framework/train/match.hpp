// Fair baselines: widths that give a model as many parameters as another, or multiplications per target symbol.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "framework/train/spec.hpp"

namespace softalign {

// The symbols that a model is built for.
struct Symbols {
  SourceFormat source = Index{0};
  Index target = 0;
};

struct MatchRequest {
  std::string by = "parameters";  // or "multiplications"
  std::vector<std::string> adjust = {
      "model.decoder.units"};  // options that are adjusted, in a fixed ratio
  Symbols symbols = {};
  std::vector<Index> lengths = {20,
                                20};  // source and target positions, with </s>, for multiplications
};

struct Match {
  std::vector<std::pair<std::string, Index>> widths;  // by option
  Index amount;
};

// Returns the symbols of the spec's task; if it reads files, the data is read to count them.
Symbols symbols_of(const Spec& spec);

// Returns the amount that `by` names. Throws SpecError if the model cannot be built, MachineError if it does not
// fit in memory.
Index amount_of(const ModelOptions& model, const MatchRequest& request);

// Returns the widths of a spec's YAML that come nearest to a target; the written ones if they are within 1 % of it.
// Throws SpecError if none come within 1 %.
Match match_widths(const Value& root, const MatchRequest& request, Index target);

}  // namespace softalign
