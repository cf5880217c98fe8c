// Reads a map of a file that is not a list of options (a study's names are its own): as strict as
// config/reader, by hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"

namespace softalign {

class Fields {
 public:
  // `what` names the map in messages ("the study", "part 'reverse'"). Throws SpecError when it is
  // no map.
  Fields(const Value& map, std::string what);

  // nullptr when the key is not there; throws SpecError when it has no value.
  const Value* find(std::string_view key);
  const Value& get(std::string_view key);  // throws SpecError when the key is not there
  std::string text(std::string_view key, std::string_view otherwise);
  // To be called at the end: throws SpecError for a key that nobody asked for.
  void finish() const;

 private:
  const Value& map_;
  std::string what_;
  std::vector<std::string> legal_;
};

// Returns whether runs, studies and sweeps may be called so: at most 100 letters, digits and . _ -
bool can_name_folder(const std::string& name);

// The name of a folder, as studies and sweeps have it; throws SpecError for what cannot be one.
std::string legal_name(const std::string& name, const Position& where);

// The number of a scalar within its limits; throw SpecError as below.
Index integer_of(const Value& value, std::string_view what, const Limits& limits = {});
double number_of(const Value& value, std::string_view what);

// The text of a scalar, the items of a list, the entries of a map; throw SpecError, saying what
// `what` should be.
std::string text_of(const Value& value, std::string_view what);
const std::vector<Value>& items_of(const Value& value, std::string_view what);
const std::vector<Value::Entry>& entries_of(const Value& value, std::string_view what);

}  // namespace softalign
