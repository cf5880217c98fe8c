#include "framework/config/spec.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <algorithm>
#include <string_view>
#include <tuple>

#include "framework/base/files.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

// Follows `extends`. The files that are being extended form a chain, in which no file may occur twice.
class Loader {
 public:
  explicit Loader(std::vector<std::string>& notes) : notes_(notes) {}

  // Returns `document` merged over the files that it extends.
  Value extended(Value document, const fs::path& file) {
    if (!document.is_map())
      throw SpecError("{}: a spec must be a map of options, as seed: 1, not {}",
                      document.where.str(),
                      document.describe());
    const Value::Entry* const extends = document.find("extends");
    if (!extends) return document;
    Value base = Value::map(document.where);
    const std::vector<Value> names = names_in(*extends);
    document.entries.erase(document.entries.begin() + (extends - document.entries.data()));
    chain_.push_back(file);
    for (const Value& name : names)
      merge(base, load(normal_path(file.parent_path() / name.text), name.where), "", notes_);
    chain_.pop_back();
    merge(base, std::move(document), "", notes_);
    return base;
  }

 private:
  static std::vector<Value> names_in(const Value::Entry& extends) {
    const std::vector<Value> names =
        extends.value.is_list() ? extends.value.items : std::vector<Value>{extends.value};
    for (const Value& name : names)
      if (!name.is_scalar() || name.text.empty() || has_control_characters(name.text))
        throw SpecError("{}: extends: expected a file or a list of files, got {}",
                        name.where.str(),
                        name.describe());
    return names;
  }

  Value load(const fs::path& file, const Position& named_at) {
    constexpr int kMost = 100;
    if (++files_ > kMost)
      throw SpecError("{}: more than {} files are extended; extend fewer", named_at.str(), kMost);
    std::error_code unreadable;  // reported by read_yaml
    const fs::path here = fs::weakly_canonical(file, unreadable);
    const auto same = [&](const fs::path& open) {
      return fs::weakly_canonical(open, unreadable) == here;
    };
    if (std::any_of(chain_.begin(), chain_.end(), same)) {
      std::vector<std::string> names;
      for (const fs::path& open : chain_) names.push_back(printable(open.string(), kWhole));
      throw SpecError("{}: files extend each other in a circle: {} -> {}; remove one 'extends'",
                      named_at.str(),
                      fmt::join(names, " -> "),
                      printable(file.string(), kWhole));
    }
    return extended(read_yaml(file, named_at), file);
  }

  std::vector<std::string>& notes_;
  std::vector<fs::path> chain_;
  int files_ = 0;
};

SpecTree finish(Value document, const fs::path& file, const std::vector<Override>& overrides) {
  SpecTree tree;
  tree.root = Loader(tree.notes).extended(std::move(document), file);
  for (const Override& change : overrides) apply(tree.root, change, tree.notes);
  return tree;
}

}  // namespace

SpecTree load_tree(const fs::path& file,
                   const std::vector<Override>& overrides,
                   const Position& named_at) {
  return finish(read_yaml(file, named_at), file, overrides);
}

SpecTree parse_tree(const std::string& text,
                    const std::string& name,
                    const std::vector<Override>& overrides) {
  return finish(parse_yaml(text, name), name, overrides);
}

namespace {

void make_relative(OptionNode& node, const std::filesystem::path& folder) {
  const auto change = [&](InputFile& file) { file.path = relative_path(file.path, folder); };
  if (auto* const file = std::get_if<InputFile>(&node.value)) change(*file);
  if (auto* const files = std::get_if<InputFiles>(&node.value))
    for (InputFile& file : *files) change(file);
  for (OptionNode& child : node.children) make_relative(child, folder);
}

// Shortens an override with an absolute path to its number: "override 1 ('a=/b')" becomes "override 1".
std::string without_path(const std::string& origin) {
  constexpr std::string_view kBefore = "= ,[{'\"";
  const std::size_t text = origin.find(" ('");
  if (text == origin.npos) return origin;
  for (std::size_t at = text + 3; at < origin.size(); ++at)
    if (origin[at] == '/' && kBefore.find(origin[at - 1]) != kBefore.npos)
      return origin.substr(0, text);
  return origin;
}

}  // namespace

std::string relative_path(const std::string& path, const std::filesystem::path& folder) {
  if (!std::filesystem::path(path).is_absolute()) return path;
  // Resolves links in the folder, because ".." after a link leads elsewhere.
  const std::filesystem::path from =
      std::filesystem::weakly_canonical(std::filesystem::absolute(folder));
  return std::filesystem::path(path).lexically_relative(from).string();
}

void make_relative(OptionNode& root, Origins& origins, const std::filesystem::path& folder) {
  make_relative(root, folder);
  for (auto& [option, origin] : origins)
    origin.file = relative_path(origin.line > 0 ? origin.file : without_path(origin.file), folder);
}

namespace {

std::string located(const Origins& origins, const std::string& message) {
  if (begins_with_position(message)) return message;
  std::string option = message.substr(0, message.find(": "));
  for (;;) {
    const auto given = origins.lower_bound(option);  // the option, or the first in its block
    if (given != origins.end() &&
        (given->first == option || given->first.starts_with(option + ".")))
      return fmt::format("{}: {}", given->second.str(), message);
    const std::size_t dot = option.rfind('.');
    if (dot == option.npos) return message;
    option.resize(dot);
  }
}

}  // namespace

bool Checks::pass(const std::function<void()>& check) {
  try {
    check();
    return true;
  } catch (const SpecError& error) {
    faults_.push_back(located(origins_, error.what()));
    return false;
  }
}

void Checks::finish() const {
  if (!faults_.empty()) throw SpecError("{}", fmt::join(faults_, "\n"));
}

void Faults::throw_all() {
  if (list_.empty()) return;
  const auto place = [](const Fault& fault) {
    return std::tie(fault.where.file, fault.where.line, fault.where.column);
  };
  std::stable_sort(list_.begin(), list_.end(), [&](const auto& a, const auto& b) {
    return place(a) < place(b);
  });
  constexpr std::size_t kMost = 20;
  std::vector<std::string> lines;
  for (const Fault& fault : list_) {
    if (lines.size() == kMost) {
      lines.push_back(fmt::format("and {} more", list_.size() - kMost));
      break;
    }
    const std::string text = printable(fault.text, kWhole);
    lines.push_back(fault.where.file.empty() ? text : fault.where.str() + ": " + text);
  }
  throw SpecError("{}", fmt::join(lines, "\n"));
}

bool name_plugin(
    Choice& choice, const Value& value, const std::string& path, Origins& origins, Faults& faults) {
  if (value.is_list())
    throw ScalarFault(
        fmt::format("expected {}, as {{type: NAME, ...}}, got a list", with_article(choice.kind)));
  const Value::Entry* const type = value.find("type");
  if (value.is_map() && !type) {
    choice.where = value.where;
    const auto misspelt = std::find_if(value.entries.begin(),
                                       value.entries.end(),
                                       [](const auto& entry) { return alike(entry.key, "type"); });
    if (choice.type.empty() && misspelt != value.entries.end()) {
      faults.add(
          misspelt->where,
          fmt::format(
              "unknown key '{}' in {}; did you mean 'type'?", printable(misspelt->key), path));
      return false;
    }
    if (choice.type.empty())
      throw ScalarFault(fmt::format("missing 'type': which {}?", choice.kind));
  } else {
    const Value& name = type ? type->value : value;
    choice.where = name.where;
    if (!name.is_scalar() || name.text.empty()) {
      faults.add(name.where,
                 fmt::format("{}.type: expected the name of {}, got {}",
                             path,
                             with_article(choice.kind),
                             name.describe()));
      return false;
    }
    choice.type = name.text;
    origins[path + ".type"] = name.where;
  }
  return true;
}

Places places_below(const Origins& origins, const std::string& block) {
  Places places;
  for (auto given = origins.lower_bound(block);
       given != origins.end() && given->first.starts_with(block);
       ++given)
    places[given->first.substr(block.size())] = given->second;
  return places;
}

}  // namespace softalign
