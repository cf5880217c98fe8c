#include "framework/config/writer.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"
#include "framework/config/interpolate.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"

namespace softalign {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang before 17 does not deduce it

template <class T, class Text>
std::string flow_list(const std::vector<T>& items, const Text& text) {
  std::vector<std::string> texts;
  for (const T& item : items) texts.push_back(text(item));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string path_text(const InputFile& file) {
  return file.path.empty() ? "null" : yaml_text(file.path);
}

bool is_choice(const OptionNode& node) { return std::holds_alternative<Choice>(node.value); }

// Calls leaf(depth, key, path, text, help if the option has no value), or block(depth, node) before a block's
// children, in order.
template <class OnLeaf, class OnBlock>
void walk(const OptionNode& parent, int depth, const OnLeaf& leaf, const OnBlock& block) {
  for (const OptionNode& node : parent.children) {
    if (node.absent) {
      if (!node.limits.required && !is_choice(node))
        leaf(depth, node.name, node.path, "null", node.help);
    } else if (is_choice(node)) {
      block(depth, node);
      leaf(
          depth + 1, "type", node.path + ".type", yaml_text(std::get<Choice>(node.value).type), "");
      walk(node, depth + 1, leaf, block);
    } else if (node.block) {
      block(depth, node);
      walk(node, depth + 1, leaf, block);
    } else {
      leaf(depth, node.name, node.path, leaf_text(node.value), "");
    }
  }
}

nlohmann::json json_of(const OptionNode& node, const FileHash& hash) {
  if (!node.block && !is_choice(node))
    return std::visit(
        Overloaded{[](std::monostate) { return nlohmann::json(); },
                   [](const Choice&) { return nlohmann::json(); },
                   [&](const InputFile& file) { return nlohmann::json(file_digest(hash(file))); },
                   [&](const InputFiles& files) {
                     nlohmann::json digests;
                     for (const InputFile& file : files) digests.push_back(file_digest(hash(file)));
                     return digests.size() == 1 ? digests.front() : digests;
                   },
                   [](const auto& value) { return nlohmann::json(value); }},
        node.value);
  nlohmann::json object = nlohmann::json::object();
  if (is_choice(node)) object["type"] = std::get<Choice>(node.value).type;
  for (const OptionNode& child : node.children)
    if (!child.absent && child.limits.changes_run) object[child.name] = json_of(child, hash);
  return object;
}

// Like nlohmann's dump, but with number_text, because its own numbers are not always the shortest.
void dump(const nlohmann::json& json, std::string& out) {
  if (json.is_object()) {
    out += '{';
    for (const auto& [key, value] : json.items()) {
      if (out.back() != '{') out += ',';
      out += nlohmann::json(key).dump() + ':';
      dump(value, out);
    }
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    for (const auto& value : json) {
      if (&value != &json.front()) out += ',';
      dump(value, out);
    }
    out += ']';
  } else {
    out += json.is_number_float() ? number_text(json.get<double>()) : json.dump();
  }
}

void check_names_and_help(const OptionNode& parent) {
  for (const OptionNode& node : parent.children) {
    const bool legal =
        !node.name.empty() && node.name[0] >= 'a' && node.name[0] <= 'z' &&
        node.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    if (!legal) throw ScalarFault(fmt::format("'{}' is no name: use a-z, 0-9 and _", node.name));
    if (node.help.empty()) throw ScalarFault(fmt::format("'{}' has no help", node.path));
    check_names_and_help(node);
  }
}

// "default", with the meaning of null from the option's help ("alignment units; null: as wide as the state").
std::string default_text(std::string_view help) {
  constexpr std::string_view kNull = "null: ";
  const std::size_t at = help.find(kNull);
  if (at == help.npos) return "default";
  const std::string_view meaning = help.substr(at + kNull.size());
  return fmt::format("default: {}", meaning.substr(0, meaning.find(';')));
}

// Removes required options, which have no default.
void remove_required(OptionNode& parent) {
  std::erase_if(parent.children, [](const OptionNode& node) { return node.limits.required; });
  for (OptionNode& node : parent.children) remove_required(node);
}

}  // namespace

std::string origin_of(const Origins& origins, const std::string& path) {
  const auto found = origins.find(path);
  if (found == origins.end()) return "default";
  const Position& where = found->second;
  if (where.reference.empty()) return where.file_and_line();
  return fmt::format("{}, {}", where.file_and_line(), printable(where.reference));
}

std::string leaf_text(const OptionNode::Leaf& value) {
  const auto integer = [](Index x) { return fmt::format("{}", x); };
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("null"); },
                 [](bool x) { return std::string(x ? "true" : "false"); },
                 [&](Index x) { return integer(x); },
                 [](double x) { return yaml_number(x); },
                 [](const std::string& x) { return yaml_text(x); },
                 [&](const std::vector<Index>& x) { return flow_list(x, integer); },
                 [](const std::vector<double>& x) { return flow_list(x, yaml_number); },
                 [](const std::vector<std::string>& x) { return flow_list(x, yaml_text); },
                 [](const InputFile& x) { return path_text(x); },
                 [](const InputFiles& x) {
                   return x.size() == 1 ? path_text(x.front()) : flow_list(x, path_text);
                 },
                 [](const Choice& x) { return yaml_text(x.type); }},
      value);
}

std::string resolved_yaml(const OptionNode& root, const Origins& origins) {
  std::vector<std::pair<std::string, std::string>> lines;  // text and origin
  const auto indent = [](int depth) { return std::string(usize(2 * depth), ' '); };
  walk(
      root,
      0,
      [&](int depth,
          const std::string& key,
          const std::string& path,
          const std::string& text,
          std::string_view help) {
        const bool given = origins.contains(path);
        lines.emplace_back(indent(depth) + key + ": " + escape_references(text),
                           given ? origin_of(origins, path) : default_text(help));
      },
      [&](int depth, const OptionNode& block) {
        const bool empty = block.children.empty() && !is_choice(block);
        lines.emplace_back(indent(depth) + block.name + (empty ? ": {}" : ":"), "");
      });
  constexpr std::size_t kWidest = 48;  // the comments of longer lines are not aligned
  std::size_t width = 0;
  for (const auto& [text, origin] : lines)
    if (text.size() <= kWidest) width = std::max(width, text.size());
  std::string out;
  for (const auto& [text, origin] : lines)
    out += origin.empty() ? text + "\n" : fmt::format("{:<{}}  # {}\n", text, width, origin);
  return out;
}

bool is_default_line(std::string_view line) {
  const std::size_t comment = line.rfind("  # ");
  if (comment == line.npos) return false;
  const std::string_view origin = line.substr(comment + 4);
  return origin == "default" || origin.starts_with("default: ");
}

std::string hash_of(const InputFile& file, std::string (*hash)(const std::filesystem::path&)) {
  try {
    return hash(file.path);
  } catch (const DataError& error) {
    if (file.where.file.empty()) throw;
    throw DataError("{}: {}", file.where.str(), error);
  }
}

std::string hash_of_file(const InputFile& file) { return hash_of(file, sha256_file); }

std::string canonical_json(const OptionNode& root, const FileHash& hash) {
  std::string out;
  dump(json_of(root, hash), out);
  return out;
}

std::string identity(const std::string& canonical_json) { return sha256_hex(canonical_json); }

std::string run_id(const std::string& identity) { return identity.substr(0, 16); }

std::vector<OptionLeaf> option_leaves(const OptionNode& root, const Origins& origins) {
  std::vector<OptionLeaf> leaves;
  walk(
      root,
      0,
      [&](int,
          const std::string&,
          const std::string& path,
          const std::string& text,
          std::string_view) {
        leaves.push_back({path, text, origin_of(origins, path)});
      },
      [](int, const OptionNode&) {});
  return leaves;
}

std::string round_trip_fault(const AnyOptions& options) {
  const auto written = [](const AnyOptions& of) {
    OptionNode root = values_of(of);
    remove_required(root);
    return std::pair(resolved_yaml(root, {}), canonical_json(root));
  };
  try {
    check_names_and_help(snapshot(describe_copy(options), SnapshotOf::schema));
    const auto [yaml, json] = written(options);
    if (yaml.empty()) return "";
    const std::unique_ptr<AnyOptions> again = options.clone();
    read_options(
        parse_yaml(yaml, "defaults"),
        [&](OptionVisitor& visitor) { again->describe(visitor); },
        "the options",
        Required::may_be_missing);
    const auto [yaml_again, json_again] = written(*again);
    if (yaml != yaml_again) return fmt::format("wrote\n{}then\n{}", yaml, yaml_again);
    if (json != json_again) return fmt::format("wrote {} then {}", json, json_again);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

namespace {

class Taker final : public OptionVisitor {
 public:
  Taker(OptionNode& root, SnapshotOf what) : open_{&root}, what_(what) {}

 protected:
  void visit(std::string_view n, bool& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, Index& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, double& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, std::string& v, std::string_view h, const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<Index>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<double>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n,
             std::vector<std::string>& v,
             std::string_view h,
             const Limits& l) override {
    add(n, h, l).value = v;
  }
  void visit(std::string_view n, InputFile& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = node.absent || v.path.empty();
  }
  void visit(std::string_view n, InputFiles& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = node.absent || v.empty();
  }
  void visit(std::string_view n, Choice& v, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.value = v;
    node.absent = v.type.empty();
    if (node.absent || what_ == SnapshotOf::schema) return;
    const std::unique_ptr<AnyOptions> options =
        v.options ? v.options->clone()
                  : Registry::instance().find(v.kind, v.type, v.where).options();
    open_.push_back(&node);
    options->describe(*this);
    open_.pop_back();
  }
  bool enter(std::string_view n, std::string_view h, const Limits& l) override {
    OptionNode& node = add(n, h, l);
    node.block = true;
    open_.push_back(&node);
    return true;
  }
  void leave() override { open_.pop_back(); }
  bool present(std::string_view n, bool now, std::string_view h, const Limits& l) override {
    next_is_optional_ = true;
    if (now) return true;
    if (what_ == SnapshotOf::schema) {
      next_is_absent_ = true;
      return true;
    }
    add(n, h, l).absent = true;
    return false;
  }

 private:
  OptionNode& add(std::string_view name, std::string_view help, const Limits& limits) {
    OptionNode& parent = *open_.back();
    OptionNode node;
    node.name = name;
    node.path = parent.path.empty() ? node.name : parent.path + "." + node.name;
    node.help = help;
    node.limits = limits;
    node.optional = std::exchange(next_is_optional_, false);
    node.absent = std::exchange(next_is_absent_, false);
    return parent.children.emplace_back(std::move(node));
  }

  std::vector<OptionNode*> open_;  // into children that do not grow while a deeper node is open
  SnapshotOf what_;
  bool next_is_optional_ = false, next_is_absent_ = false;
};

}  // namespace

OptionNode snapshot(const Describe& describe, SnapshotOf what) {
  OptionNode root;
  root.block = true;
  Taker taker(root, what);
  describe(taker);
  return root;
}

}  // namespace softalign
