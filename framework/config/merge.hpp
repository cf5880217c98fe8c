// Merges a more specific source (an extending file or an override) into a less specific one, both
// by one rule:
//
// * Maps merge deeply; scalars, lists and null replace the earlier value. A scalar that replaces a
//   whole block is noted.
// * A map over a scalar takes the scalar as a plugin's name: `encoder: gru`, then
//   `encoder.units=64`, is `encoder: {type: gru, units: 64}`.
// * When the more specific source changes a block's `type`, the block's other options stay, marked
//   with the type they were written for. The reader, which knows the plugins, keeps options that
//   the new type has, drops options that only the old type has, reports both in a note, and still
//   rejects options that neither has.
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

// Merges `over` into `base`. `path` names `base` in the notes; "" is the whole spec.
void merge(Value& base, Value over, const std::string& path, std::vector<std::string>& notes);

// The reader's part of the rule: a plugin's options when a more specific source changes its type.

// Returns whether an entry was written for another type, which has this option. `fallback` is the default type of the
// block.
bool was_legal(const Value::Entry& entry, const std::string& kind, const std::string& fallback);

// Returns a note on the options of `choice` at `path`, in `block`, with their positions: those kept, which its type
// has (`legal`), and those dropped; empty if the type did not change.
std::string changed_type_note(const Value& block,
                              const std::string& path,
                              const Choice& choice,
                              const std::string& fallback,
                              const std::vector<std::string>& legal);

// One change to a spec from outside its file: `model.encoder.units=64` sets an option,
// `~train.early_stopping` removes the file's value, so that the default applies again.
struct Override {
  std::string path;  // "model.encoder.units"
  bool remove = false;
  Value value;
  Position where;
};

// Parses an override as given on the command line; parse_flow reads its value. `where` names its
// origin in messages; a position with a line is in a file (a study's), and relative input files are
// then relative to that file. Throws SpecError.
Override parse_override(std::string_view text, const Position& where);

// Parses the n-th override of a command line, n from 1; its origin is "override 1 ('a.b=c')".
Override numbered_override(std::string_view text, int n);
std::vector<Override> numbered_overrides(const std::vector<std::string>& texts);

// Applies an override. Throws SpecError if it removes a missing value; notes replaced blocks.
void apply(Value& root, const Override& change, std::vector<std::string>& notes);

}  // namespace softalign
