// Fair baselines: widths that give a model as many parameters as another, or as many multiplications a target symbol.
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
      "model.decoder.units"};  // options that are set, which keep their ratio
  Symbols symbols = {};
  std::vector<Index> lengths = {20,
                                20};  // source and target positions, with </s>, of multiplications
};

struct Match {
  std::vector<std::pair<std::string, Index>> widths;  // by option
  Index amount;
};

// The symbols of a task that generates its sentences; for files, the data is read to count them.
Symbols symbols_of(const Spec& spec);

// The amount that `by` names. Throws SpecError where the model cannot be built, MachineError where it does not
// fit.
Index amount_of(const ModelOptions& model, const MatchRequest& request);

// The widths of a spec's YAML that come nearest to a target; the written ones where they are within 1 % of it.
// Throws SpecError where none come within 1 %.
Match match_widths(const Value& root, const MatchRequest& request, Index target);

}  // namespace softalign
