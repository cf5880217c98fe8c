#include "framework/config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"

namespace softalign {
namespace {

// Turns yaml-cpp's events into a Value. Stops at the first unwanted event, so that deep nesting and
// exploding aliases are never built.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(Position fixed) : fixed_(std::move(fixed)) {}
  explicit Builder(std::string file) : file_(std::move(file)) {}

  Value finish() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1)
      fail(at(mark), "a second document begins here; keep one document in a file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, "", anchor);
    Value null;
    null.where = at(mark);
    if (!open_.empty() && open_.back().value.is_map() && open_.back().has_key)
      null.where = open_.back().value.entries.back().where;  // yaml-cpp has no mark for `key:`
    add(std::move(null));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse(mark, "", 1); }

  void OnScalar(const YAML::Mark& mark,
                const std::string& tag,
                YAML::anchor_t anchor,
                const std::string& text) override {
    refuse(mark, tag, anchor);
    for (std::size_t i = 0, length = 0; i < text.size(); i += length)
      if (length = character_at(text, i).bytes;
          length == 0)  // yaml-cpp's result for these two escapes
        fail(at(mark), "\\_ and \\N are not read; write \"\\xa0\" or \"\\x85\" in double quotes");
    add(Value::scalar(text, at(mark), tag == "!"));
  }

  void OnSequenceStart(const YAML::Mark& mark,
                       const std::string& tag,
                       YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(Value::Type::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { end(); }

  void OnMapStart(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(Value::Type::map, mark, tag, anchor);
  }
  void OnMapEnd() override { end(); }

  Position at(const YAML::Mark& mark) const {
    if (!fixed_.file.empty()) return fixed_;
    if (mark.is_null()) return {file_, 1, 1};
    return {file_, mark.line + 1, mark.column + 1};
  }

 private:
  struct Open {
    Value value;
    bool has_key = false;  // of a map: the last entry waits for its value
    std::map<std::string, Position> keys = {};
  };

  [[noreturn]] static void fail(const Position& where, std::string_view what) {
    throw SpecError("{}: {}", where.str(), what);
  }

  void refuse(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0)
      fail(at(mark),
           "anchors and aliases (&name, *name) are not read; write the value out, or share options "
           "between files with 'extends: [other.yaml]'");
    if (!tag.empty() && tag != "?" && tag != "!")
      fail(at(mark),
           "tags are not read (" + printable(tag) +
               "); the option decides the type: write the bare value");
  }

  void begin(Value::Type type,
             const YAML::Mark& mark,
             const std::string& tag,
             YAML::anchor_t anchor) {
    refuse(mark, tag, anchor);
    if (open_.size() >= usize(kDeepestYaml))
      fail(at(mark), fmt::format("nested deeper than {}; no option is", kDeepestYaml));
    Value value;
    value.type = type;
    value.where = at(mark);
    open_.push_back({std::move(value)});
  }

  void end() {
    Value value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }

  void add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.is_list()) {
      parent.value.items.push_back(std::move(value));
    } else if (parent.has_key) {
      parent.value.entries.back().value = std::move(value);
      parent.has_key = false;
    } else {
      add_key(parent, value);
    }
  }

  void add_key(Open& parent, const Value& key) {
    if (!key.is_scalar()) fail(key.where, "a key must be a word, not " + key.describe());
    if (key.text == "<<" && !key.quoted)
      fail(key.where, "merge keys (<<) are not read; share options with 'extends: [other.yaml]'");
    const auto [first, fresh] = parent.keys.emplace(key.text, key.where);
    if (!fresh)
      fail(key.where,
           fmt::format("key '{}' is given twice, first at {}; keep one",
                       printable(key.text),
                       first->second.str()));
    parent.value.entries.push_back({key.text, key.where, {}});
    parent.has_key = true;
  }

  std::string file_;
  Position fixed_;
  int documents_ = 0;
  std::vector<Open> open_;
  Value root_;
};

// The error for a text that yaml-cpp cannot read. yaml-cpp stops at the faulty line or at the next one. A typing error
// in either is reported instead of yaml-cpp's message.
SpecError not_yaml(const YAML::Exception& error, std::string_view text, const Builder& builder) {
  YAML::Mark mark = error.mark;
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size() && std::ssize(lines) <= mark.line;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  for (int l = mark.line; l >= std::max(0, mark.line - 1); --l) {
    if (l >= std::ssize(lines) || lines[usize(l)].find_first_of("'\"") != text.npos) continue;
    const std::string_view line = lines[usize(l)];
    const std::size_t first = std::min(line.find_first_not_of(" -"), line.size());
    const std::string_view content = trimmed(line.substr(first));
    const std::string slip = slip_in(content);
    if (slip.empty()) continue;
    mark.line = l;
    mark.column = static_cast<int>(first);
    return SpecError("{}: not YAML: '{}'{}", builder.at(mark).str(), printable(content), slip);
  }
  const std::string_view fault = error.msg;
  const bool in_flow = fault.find("flow") != fault.npos;
  return SpecError("{}: not YAML: {}{}",
                   builder.at(mark).str(),
                   printable(fault, 200),
                   fault == "illegal map value"
                       ? "; indent it as its neighbours are, and quote a value that holds ': '"
                   : in_flow ? "; in [] and {} a value that holds , [ ] { or } needs quotes"
                             : "");
}

// The end is marked, because yaml-cpp takes the end of a file for the end of a quote: a file
// truncated inside "..." would be read as if it were complete.
Value parse(std::string_view text, Builder builder) {
  std::string marked(text);
  if (!marked.ends_with('\n')) marked += '\n';
  const auto end_line = std::count(marked.begin(), marked.end(), '\n');  // counted from 0
  marked += "...\n";
  std::istringstream in(marked);
  try {
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (error.mark.line >= end_line)
      throw SpecError("{}: not YAML: it ends inside a quote, a [ or a {{",
                      builder.at(error.mark).str());
    throw not_yaml(error, text, builder);
  }
  return builder.finish();
}

}  // namespace

Value parse_yaml(std::string_view text, const std::string& name) {
  if (text.size() > kLargestYaml)
    throw SpecError(
        "{}: larger than {} bytes; is this a spec?", printable(name, kWhole), kLargestYaml);
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  check_characters(text, {name, 1, 1});
  Value root = parse(text, Builder(name));
  if (root.is_null()) throw SpecError("{}:1:1: the document is empty", printable(name, kWhole));
  return root;
}

Value read_yaml(const std::filesystem::path& file, const Position& named_at) {
  const std::string name = file.string();
  const std::string shown = printable(name, kWhole);
  const std::string prefix = named_at.file.empty() ? shown : named_at.str() + ": " + shown;
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw SpecError("{}: is a directory; name the YAML file in it", prefix);
  try {  // a file named by another file may be untrusted, so it must not be a pipe
    if (!named_at.file.empty() && std::filesystem::exists(file, ignored)) demand_regular_file(file);
  } catch (const DataError& error) {
    throw SpecError("{}: {}", named_at.str(), error.what());
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) throw SpecError("{}: cannot be read: {}", prefix, std::strerror(errno));
  std::string text;
  std::array<char, 1 << 14> piece{};
  while (in && text.size() <= kLargestYaml) {  // not to the end of the file: it may be endless
    in.read(piece.data(), piece.size());
    text.append(piece.data(), usize(in.gcount()));
  }
  if (in.bad()) throw SpecError("{}: cannot be read: {}", prefix, std::strerror(errno));
  return parse_yaml(text, name);
}

Value parse_flow(std::string_view text, const Position& where) {
  text = trimmed(text);
  check_characters(text, where);
  if (text.empty())
    throw SpecError("{}: no value; write null for none, '' for an empty text", where.str());
  const char first = text.front();
  const char last = text.back();
  if (first == '[' || first == '{' || first == '"' || first == '\'') {
    const char closing = first == '[' ? ']' : first == '{' ? '}' : first;
    if (last != closing || text.size() == 1)
      throw SpecError("{}: {} is not closed; does the shell see your quotes?", where.str(), first);
    Value value = parse(text, Builder(where));
    if (value.is_scalar() != (first == closing))
      throw SpecError("{}: write a list as [a, b], a map as {{key: value}}", where.str());
    return value;
  }
  if (std::string_view("&*!|>%@`#,]}").find(first) != std::string_view::npos)
    throw SpecError("{}: a value cannot begin with {}; quote it", where.str(), first);
  if (text == "null" || text == "~") {
    Value null;
    null.where = where;
    return null;
  }
  return Value::scalar(std::string(text), where);
}

namespace {

bool begins_a_flow(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// Returns whether a text is an option's name, a colon and a value without a blank: "b:2", but not "http://b.c".
bool lacks_blank(std::string_view text, std::size_t colon) {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; };
  return colon != std::string_view::npos && colon + 1 < text.size() &&
         std::isalpha(static_cast<unsigned char>(text.front())) &&
         std::ranges::all_of(text.substr(0, colon), is_of_name) &&
         std::string_view(" :/").find(text[colon + 1]) == std::string_view::npos;
}

// Blanks of other widths, and characters without width.
bool looks_like_a_blank(char32_t c) {
  return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x202f || c == 0x205f ||
         c == 0x2060 || c == 0x3000 || c == 0xfeff;
}

}  // namespace

std::string slip_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (looks_like_a_blank(character.code_point))
      return fmt::format(" (it holds U+{:04X}, which only looks like a blank; type a space)",
                         static_cast<std::uint32_t>(character.code_point));
    at += std::max<std::size_t>(character.bytes, 1);
  }
  const std::size_t colon = text.find(':');
  if (!lacks_blank(text, colon)) return "";
  return fmt::format(" (no blank behind its colon; write {}: {})",
                     printable(text.substr(0, colon)),
                     printable(text.substr(colon + 1)));
}

void check_characters(std::string_view text, const Position& start) {
  Position where = start;
  std::size_t line_start = 0;
  bool indentation = true;
  const bool tabs = begins_a_flow(text), ends_lines = text.find('\n') != std::string_view::npos;
  for (std::size_t at = 0; at < text.size();) {
    const auto fail = [&](std::string_view what) {
      if (where.line > 0) where.column = static_cast<int>(at - line_start) + 1;
      throw SpecError("{}: {}", where.str(), what);
    };
    const char c = text[at];
    const std::size_t length = character_at(text, at).bytes;
    if (length == 0) fail("not UTF-8; save the text as UTF-8");
    if (c == '\t' && indentation && !tabs) fail("a tab in the indentation; indent with spaces");
    if (c == '\r' && !ends_lines && at + 1 < text.size())
      fail(
          "a carriage return alone, as old Mac systems end lines; convert the file: tr '\\r' "
          "'\\n'");
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      fail(fmt::format(
          "control character 0x{:02x}; remove it, or write \"\\x{:02x}\" in double quotes",
          byte,
          byte));
    if (c != ' ') indentation = false;
    at += length;
    if (c == '\n') {
      if (where.line > 0) ++where.line;
      line_start = at;
      indentation = true;
    }
  }
}

}  // namespace softalign
