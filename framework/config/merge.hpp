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
#include <string_view>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

// `path` names `base` in the notes; "" is the whole spec.
void merge(Value& base, Value over, const std::string& path, std::vector<std::string>& notes);

// The reader's half of the rule: a plugin's options when a more specific source changes its type.

// Returns whether an entry was written for another type, which has such an option. `fallback` is the type of a
// block of this kind that names none.
bool was_legal(const Value::Entry& entry, const std::string& kind, const std::string& fallback);

// A note on the options of `choice` at `path`, in `block`: which were kept (`legal`: the options that its type
// has) and which dropped, with their positions; empty when the type did not change.
std::string changed_type_note(const Value& block,
                              const std::string& path,
                              const Choice& choice,
                              const std::string& fallback,
                              const std::vector<std::string>& legal);

// One change to a spec from outside its file: `model.encoder.units=64` sets an option,
// `~train.early_stopping` removes what the file says, so that the default holds again.
struct Override {
  std::string path;  // "model.encoder.units"
  bool remove = false;
  Value value;
  Position where;
};

// From the text of a command line; the value as parse_flow reads it. `where` names its origin in
// messages; a position with a line is in a file (a study's), and relative input files are
// then relative to that file. Throws SpecError.
Override parse_override(std::string_view text, const Position& where);

// The n-th override of a command line, n from 1; its origin is "override 1 ('a.b=c')".
Override numbered_override(std::string_view text, int n);
std::vector<Override> numbered_overrides(const std::vector<std::string>& texts);

// Throws SpecError when there is nothing to remove; adds a line to `notes` for what is replaced.
void apply(Value& root, const Override& change, std::vector<std::string>& notes);

}  // namespace softalign
