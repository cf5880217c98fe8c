// Fair baselines: model.match gives a model as many parameters as another, or as many multiplications a target
// symbol. The widths are found when the spec is read, so that the run is the one that has them written by hand:
//
//   model.match: {to: additive.yaml, by: parameters, adjust: [model.encoder.units, model.decoder.units]}
//
// A width that is within 1 % of a known target stays, so a record's spec, or a plan's, is read as it was written.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// Puts the widths, the symbols counted with and the target into a tree that asks for them, and a note. Opens
// `to` only while there is no target, and reads data only where the task alone does not know its symbols.
// Throws SpecError with file and line where no width comes within 1 %, and for specs that match in a circle.
void match_widths(SpecTree& tree);

// A spec as load_tree has it. What model.match had found for the spec as it was written, `target` of `to` and `symbols`,
// is forgotten where a change asks anew: of another key of model.match, or of the task.
SpecTree load_to_match(const std::filesystem::path& file, const std::vector<Override>& changes);

// What `to` names while its target is not known; null: nothing is to be found out. For who knows other names
// than those of files.
const Value* unknown_target(const Value& root);
void set_target(Value& root, const Spec& to);

// Writes symbols and target of a resolved spec into the tree that it was read from.
void keep_target(Value& root, const Spec& resolved);

// "model.decoder.units=237: 1,203,411 parameters, +0.28 % from the 1,200,005 of additive.yaml"; empty where
// nothing is matched.
std::string match_text(const Spec& spec);

}  // namespace softalign
