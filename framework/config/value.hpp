// A YAML document as an ordered tree whose nodes have positions, and the conversion of its scalars by the type of
// the option that reads them.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/config/options.hpp"

namespace softalign {

struct Value {
  enum class Type { null, scalar, list, map };
  struct Entry;

  Type type = Type::null;
  std::string text;            // of a scalar
  bool quoted = false;         // '256' is text, 256 may be a number
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a map, in the order written; keys are unique
  Position where;

  static Value scalar(std::string text, Position where, bool quoted = false);
  static Value map(Position where);

  bool is_null() const { return type == Type::null; }
  bool is_scalar() const { return type == Type::scalar; }
  bool is_list() const { return type == Type::list; }
  bool is_map() const { return type == Type::map; }

  // Returns the entry of a map, or nullptr (also if this is not a map).
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
  std::vector<std::string> keys() const;

  // Returns a scalar as a list of one: `only: encoder.*`. Other values are returned unchanged.
  Value as_list() const;

  // Returns the value as YAML on one line, "{a: 1, b: [x, '2']}", which parse_flow reads back.
  std::string flow() const;

  // Returns text for messages: "'256x'", "the quoted text '256'", "a list", "a map", "nothing".
  std::string describe() const;
};

struct Value::Entry {
  std::string key;
  Position where;  // of the key
  Value value;
  // The `type` of this entry's block ("": the default) before a more specific source set it; empty
  // if no source has. Set by merge.
  std::optional<std::string> from_type = {};
};

// Conversion of scalars: strict reading, shortest writing, and limits in words, without the
// surprises of YAML 1.1 (010 is 8, yes is true, '1' is 1).

// The fault of a value, without its position, which the caller adds.
class ScalarFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each function throws ScalarFault "expected an integer >= 1, got '256x'".
bool to_bool(const Value& value);
Index to_integer(const Value& value, const Limits& limits = {});
// The program computes in floats: a number that becomes infinite, 0 or illegal as a float is refused
// even if a double can represent it.
double to_number(const Value& value, const Limits& limits = {});
std::string to_text(const Value& value, const Limits& limits = {});

// The shortest decimal that reads back as the same double, as Python writes it: 0.1, 1.0, 1e-05.
std::string number_text(double value);
// Like number_text, but 1.0e-05, because readers of YAML 1.1 take 1e-05 as text.
std::string yaml_number(double value);
// A string as YAML: bare if no reader can misread it, otherwise in double quotes.
std::string yaml_text(const std::string& text);
// ">= 1", "> 0", "in [0, 1)", "one of maxout, tanh"; empty without limits.
std::string limits_text(const Limits& limits);

std::string_view trimmed(std::string_view text);  // without blanks and line ends at both ends

// Returns the absolute path of a file whose name is relative to the folder of the file that names it.
std::string to_path(const Value& value, const Limits& limits);

}  // namespace softalign
