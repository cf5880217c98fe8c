#include "framework/config/value.hpp"

#include <algorithm>

#include "framework/config/characters.hpp"
#include "framework/config/scalar.hpp"

namespace softalign {

Value Value::scalar(std::string text, Position where, bool quoted) {
  Value value;
  value.type = Type::scalar;
  value.text = std::move(text);
  value.quoted = quoted;
  value.where = std::move(where);
  return value;
}

Value Value::as_list() const {
  if (!is_scalar()) return *this;
  Value list;
  list.type = Type::list;
  list.where = where;
  list.items.push_back(*this);
  return list;
}

Value Value::map(Position where) {
  Value value;
  value.type = Type::map;
  value.where = std::move(where);
  return value;
}

const Value::Entry* Value::find(std::string_view key) const {
  const auto found = std::find_if(
      entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Value::Entry* Value::find(std::string_view key) {
  return const_cast<Entry*>(static_cast<const Value&>(*this).find(key));
}

std::vector<std::string> Value::keys() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.key);
  return names;
}

std::string Value::flow() const {
  const auto bare = [](const std::string& word) {
    return !word.empty() &&
           word.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") ==
               std::string::npos;
  };
  std::string list;
  switch (type) {
    case Type::null:
      return "null";
    case Type::scalar:
      return !quoted && bare(text) ? text : yaml_text(text);
    case Type::list:
      for (const Value& item : items) list += (list.empty() ? "" : ", ") + item.flow();
      return "[" + list + "]";
    case Type::map:
      break;
  }
  for (const Entry& entry : entries)
    list +=
        fmt::format("{}{}: {}", list.empty() ? "" : ", ", yaml_text(entry.key), entry.value.flow());
  return "{" + list + "}";
}

std::string Value::describe() const {
  switch (type) {
    case Type::null:
      return "nothing";
    case Type::list:
      return "a list";
    case Type::map:
      return "a map";
    case Type::scalar:
      break;
  }
  return fmt::format(
      "{}'{}'{}", quoted ? "the quoted text " : "", printable(text), quoted ? "" : slip_in(text));
}

}  // namespace softalign
