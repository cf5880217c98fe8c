// A YAML document as our own ordered tree, in which every node knows where it was written. What the
// scalars mean is decided later, by the type of the option that reads them (scalar.hpp).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"

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

  // The entry of a map, or nullptr (also when this is no map).
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
  std::vector<std::string> keys() const;

  // A scalar stands for the list of it: `only: encoder.*`. Other values are returned as they are.
  Value as_list() const;

  // As YAML on one line, "{a: 1, b: [x, '2']}": parse_flow reads the same value back.
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

}  // namespace softalign
