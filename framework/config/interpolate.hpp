// References in a spec: a value `${model.encoder.units}` is replaced by the value of that option in the same spec,
// which any file or override may set. References are resolved when the spec is read, so a sweep that varies an option
// varies its references, too.
//
//   model:
//     encoder: {type: gru, units: 256}
//     decoder: {type: gru, units: "${model.encoder.units}"}   # YAML requires quotes between braces
//   notes: width ${model.encoder.units}                       # inside a text: the text of a scalar
//
// `$${` is the text `${`.
#pragma once

#include <string>

#include "framework/config/value.hpp"

namespace softalign {

// Replaces every reference by its value, at the position of the reference, with its text as the position's
// `reference`. Throws SpecError if one names no value of the spec, or itself, or a list or a block inside a text.
void interpolate(Value& root);

// Escapes a text so that interpolate restores it.
std::string escape_references(std::string text);

}  // namespace softalign
