#include "framework/config/interpolate.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "framework/base/text.hpp"

namespace softalign {
namespace {

constexpr std::string_view kOpen = "${";

class Interpolator {
 public:
  explicit Interpolator(const Value& root) : root_(root) {}

  void replace_in(Value& value) {
    for (Value& item : value.items) replace_in(item);
    for (Value::Entry& entry : value.entries) replace_in(entry.value);
    if (value.is_scalar() && value.text.find(kOpen) != value.text.npos) replace(value);
  }

 private:
  void replace(Value& value) {
    const Position where = value.where;
    const std::string text = value.text;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find(kOpen, at);
      out.append(text, at, begin - at);
      if (begin == text.npos) break;
      if (begin > at && out.back() == '$') {
        out += '{';
        at = begin + kOpen.size();
        continue;
      }
      const std::size_t end = text.find('}', begin);
      if (end == text.npos)
        throw SpecError(
            "{}: '{}' has no '}}' behind its '${{'; write $${{ where it is meant as text",
            where.str(),
            printable(text));
      const std::string path = text.substr(begin + kOpen.size(), end - begin - kOpen.size());
      Value found = value_at(path, where);
      if (begin == 0 && end + 1 == text.size()) {
        value = std::move(found);
        value.where = where;
        value.where.reference = text;
        return;
      }
      if (!found.is_scalar())
        throw SpecError("{}: ${{{}}} is {}, which cannot stand inside a text",
                        where.str(),
                        printable(path),
                        found.describe());
      out += found.text;
      at = end + 1;
    }
    value.text = out;
    value.where.reference = text;
  }

  // Returns the value at a path, with its references replaced.
  Value value_at(const std::string& path, const Position& where) {
    if (std::ranges::find(open_, path) != open_.end())
      throw SpecError("{}: ${{{}}} leads back to itself", where.str(), printable(path));
    const Value* value = &root_;
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::string_view key = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(rest.size(), key.size() + 1));
      if (key == "type" && rest.empty() && value->is_scalar()) break;  // score: dot
      const Value::Entry* const entry = value->find(key);
      if (!entry)
        throw SpecError("{}: ${{{}}} names nothing that this spec gives{}",
                        where.str(),
                        printable(path),
                        suggestion(key, value->keys()));
      value = &entry->value;
    }
    if (path.empty()) throw SpecError("{}: ${{}} names no option", where.str());
    Value copy = *value;
    open_.push_back(path);
    replace_in(copy);
    open_.pop_back();
    return copy;
  }

  const Value& root_;
  std::vector<std::string> open_;  // paths that are being resolved
};

}  // namespace

std::string escape_references(std::string text) {
  for (std::size_t at = text.find(kOpen); at != text.npos; at = text.find(kOpen, at + 3))
    text.insert(at, "$");
  return text;
}

void interpolate(Value& root) {
  const Value given = root;
  Interpolator(given).replace_in(root);
}

}  // namespace softalign
