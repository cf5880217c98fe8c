// Lays a more specific source (an extending file, an override) over a less specific one. One rule
// for both:
//
// * Maps merge deeply; scalars, lists and null replace what was there. A scalar that replaces a
//   whole block is noted.
// * A map over a scalar takes the scalar for a plugin's name: `encoder: gru`, then
//   `encoder.units=64`, is `encoder: {type: gru, units: 64}`.
// * When the more specific source changes a block's `type`, the block's other options stay, marked
//   with the type they were written for. The reader, which knows the plugins, keeps those that the
//   new type has, drops those that only the old type has, says both in a note, and still refuses
//   what neither has.
//
// So `model.encoder.type=lstm` keeps the `units` of a gru, and `model.encoder=gru`
// starts from the defaults.
#pragma once

#include <string>
#include <vector>

#include "framework/config/value.hpp"

namespace softalign {

// `path` names `base` in the notes; "" is the whole spec.
void merge(Value& base, Value over, const std::string& path, std::vector<std::string>& notes);

}  // namespace softalign
