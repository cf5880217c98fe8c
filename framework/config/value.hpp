// A YAML document as our own ordered tree, in which every node knows where it was written; and what its scalars
// mean, which is decided by the type of the option that reads them.
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

  // The entry of a map, or nullptr (also when this is not a map).
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
  std::vector<std::string> keys() const;

  // Returns a scalar as a list of one: `only: encoder.*`. Other values are returned unchanged.
  Value as_list() const;

  // Returns the value as YAML on one line, "{a: 1, b: [x, '2']}", which parse_flow reads back.
  std::string flow() const;

  // For messages: "'256x'", "the quoted text '256'", "a list", "a map", "nothing".
  std::string describe() const;
};

struct Value::Entry {
  std::string key;
  Position where;  // of the key
  Value value;
  // The `type` that this entry's block had ("": the default one) when a more specific source set
  // that type; empty while none has. Set by merge.
  std::optional<std::string> from_type = {};
};

// Scalars between text and type: strict reading, shortest writing, and limits in words. YAML 1.1's
// surprises (010 is 8, yes is true, '1' is 1) end here.

// The fault of a value, without its position: the caller adds it.
class ScalarFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Each throws ScalarFault "expected an integer >= 1, got '256x'".
bool to_bool(const Value& value);
Index to_integer(const Value& value, const Limits& limits = {});
// The program computes in floats: what is infinite, 0 or out of its limits as a float is refused
// even where a double would hold it.
double to_number(const Value& value, const Limits& limits = {});
std::string to_text(const Value& value, const Limits& limits = {});

// The shortest decimal that reads back as the same double, as Python writes it: 0.1, 1.0, 1e-05.
std::string number_text(double value);
// number_text for a reader of YAML 1.1, to whom 1e-05 is a text: 1.0e-05.
std::string yaml_number(double value);
// A string as YAML: bare where nothing can misread it, else in double quotes.
std::string yaml_text(const std::string& text);
// ">= 1", "> 0", "in [0, 1)", "one of maxout, tanh"; empty when anything goes.
std::string limits_text(const Limits& limits);

std::string_view trimmed(std::string_view text);  // without blanks and line ends at both ends

// The whole path of a file that is relative to the folder of the file that names it.
std::string to_path(const Value& value, const Limits& limits);

}  // namespace softalign
