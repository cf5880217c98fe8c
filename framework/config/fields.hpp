// Reads a map that is not a list of options (the keys of a study are names of its own) by single
// look-ups, as strictly as config/reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

class Fields {
 public:
  // `what` names the map in messages ("the study", "part 'reverse'"). Throws SpecError if `map` is
  // not a map.
  Fields(const Value& map, std::string what);

  // Returns nullptr if the key is missing; throws SpecError if it has no value.
  const Value* find(std::string_view key);
  const Value& get(std::string_view key);  // throws SpecError if the key is missing
  std::string text(std::string_view key, std::string_view otherwise);
  // To be called at the end: throws SpecError for a key that was never looked up.
  void finish() const;

 private:
  const Value& map_;
  std::string what_;
  std::vector<std::string> legal_;
};

// Returns whether runs, studies and sweeps may have this name: at most 100 letters, digits and . _ -
bool can_name_folder(const std::string& name);

// Returns the name of a study or sweep; throws SpecError if it cannot name a folder.
std::string legal_name(const std::string& name, const Position& where);

// Return the number of a scalar; throw SpecError, naming `what`, if it is not one within the limits.
Index integer_of(const Value& value, std::string_view what, const Limits& limits = {});
double number_of(const Value& value, std::string_view what);

// Return the text of a scalar, the items of a list, the entries of a map; throw SpecError, saying
// what `what` must be.
std::string text_of(const Value& value, std::string_view what);
const std::vector<Value>& items_of(const Value& value, std::string_view what);
const std::vector<Value::Entry>& entries_of(const Value& value, std::string_view what);

}  // namespace softalign
