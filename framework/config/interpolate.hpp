// References in a spec: a value `${model.encoder.units}` is that of another option of the same spec, whatever files
// and overrides made it. They are resolved when the spec is read, so a sweep that varies the one varies the other.
//
//   model:
//     encoder: {type: gru, units: 256}
//     decoder: {type: gru, units: "${model.encoder.units}"}   # in quotes between braces, as YAML wants it
//   notes: width ${model.encoder.units}                       # inside a text: the text of a scalar
//
// `$${` is the text `${`.
#pragma once

#include <string>

#include "framework/config/value.hpp"

namespace softalign {

// Replaces every reference, each with its own position, whose `reference` is its text. Throws SpecError for one
// that names nothing in the spec, or itself, and for a list or a block inside a text.
void interpolate(Value& root);

// A text that interpolate reads back as it is.
std::string escape_references(std::string text);

}  // namespace softalign
