#include "framework/analysis/differences.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/config/registry.hpp"
#include "framework/config/writer.hpp"
#include "framework/train/spec.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;
using Leaves = std::map<std::string, std::string>;
using ValueCounts = std::map<std::string, std::map<std::string, std::size_t>>;  // path, value, runs

void collect(const Json& json, const std::string& path, Leaves& leaves) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items())
      collect(value, path.empty() ? key : path + "." + key, leaves);
    return;
  }
  Json shown = json;
  if (shown.is_array())
    for (Json& item : shown)
      if (item.is_string()) item = short_digest(item.get<std::string>());
  leaves[path] = json.is_string() ? json.get<std::string>() : shown.dump();
}

bool has_end(const std::string& path, const std::string& end) {
  return path == end || path.ends_with("." + end);
}

// Shortens the path of a plugin's type to that of the plugin: score.type to score.
std::string plain(const std::string& path) {
  return path.ends_with(kType) ? path.substr(0, path.size() - kType.size()) : path;
}

struct Option {  // of one run; points into Counted::counts
  const std::string* path;
  const std::pair<const std::string, std::size_t>* value;
};
using Options = std::vector<Option>;  // by path

const std::string* value_of(const Options& run, const std::string& path) {
  const auto path_of = [](const Option& option) -> const std::string& { return *option.path; };
  const auto found = std::ranges::lower_bound(run, path, {}, path_of);
  return found == run.end() || *found->path != path ? nullptr : &found->value->first;
}

// Returns the plugins of the blocks around an option, innermost first; "" for a block without a plugin in this run.
std::vector<std::string> plugins_around(const std::string& path, const Options& run) {
  std::vector<std::string> plugins;
  std::string block = plain(path);
  for (std::size_t dot = block.rfind('.'); dot != block.npos; dot = block.rfind('.')) {
    block.resize(dot);
    const std::string* type = value_of(run, block + ".type");
    plugins.push_back(type == nullptr ? "" : *type);
  }
  return plugins;
}

// Returns whether an option has one value in all runs that have it, and is missing from the other runs only
// because they have another plugin there; the plugin's name is then enough.
bool goes_with_plugin(const std::string& path, const std::vector<Options>& runs) {
  std::set<std::vector<std::string>> with, without;
  std::set<std::string> values;
  for (const Options& run : runs) {
    const std::string* value = value_of(run, path);
    if (value != nullptr) values.insert(*value);
    if (!run.empty()) (value == nullptr ? without : with).insert(plugins_around(path, run));
  }
  return values.size() == 1 &&
         std::ranges::none_of(without, [&](const auto& plugins) { return with.contains(plugins); });
}

void collect(const OptionNode& parent, std::set<std::string>& names) {
  for (const OptionNode& node : parent.children) {
    if (node.limits.qualify_name) names.insert(node.name);
    collect(node, names);
  }
}

// Returns the names of options that are unclear without their block.
std::set<std::string> names_to_qualify() {
  std::set<std::string> names;
  collect(snapshot(describe_copy(Spec()), SnapshotOf::schema), names);
  const Registry& registry = Registry::instance();
  for (const std::string& kind : registry.kinds())
    for (const PluginEntry* entry : registry.entries(kind))
      collect(snapshot(describe_copy(*entry->options()), SnapshotOf::schema), names);
  return names;
}

std::string short_name(const std::string& path,
                       const std::set<std::string>& all,
                       const std::set<std::string>& qualify_name) {
  for (std::size_t dot = path.rfind('.'); dot != path.npos && dot > 0;
       dot = path.rfind('.', dot - 1)) {
    const std::string end = path.substr(dot + 1);
    if (qualify_name.contains(end)) continue;
    if (std::count_if(all.begin(), all.end(), [&](const auto& p) { return has_end(p, end); }) == 1)
      return end;
  }
  return path;
}

// Returns the plugins that a spec has by default, by path: "global" for "model.attention.type".
std::map<std::string, std::string> default_plugins() {
  std::map<std::string, std::string> plugins;
  const auto take = [&](const OptionNode& parent, const auto& again) -> void {
    for (const OptionNode& node : parent.children) {
      const auto* choice = std::get_if<Choice>(&node.value);
      if (choice && !node.absent) plugins[node.path + std::string(kType)] = choice->type;
      again(node, again);
    }
  };
  take(snapshot(describe_copy(Spec()), SnapshotOf::schema), take);
  return plugins;
}

// The options of all runs, and the number of runs with each value. The options point into `counts`.
struct Counted {
  std::vector<Options> runs;
  ValueCounts counts;
  std::size_t readable = 0;

  explicit Counted(const std::vector<std::string>& identities) {
    for (const std::string& identity : identities) {
      const Json json = read_json<Json>(identity);
      Options& options = runs.emplace_back();
      if (!json.is_object()) continue;
      ++readable;
      Leaves leaves;
      collect(json, "", leaves);
      for (const auto& [path, value] : leaves) {
        const auto values = counts.try_emplace(path).first;
        const auto count = values->second.try_emplace(value).first;
        ++count->second;
        options.push_back({&values->first, &*count});
      }
    }
  }

  std::set<std::string> naming_parts() const {
    std::set<std::string> parts;
    const std::map<std::string, std::string> usual = default_plugins();
    for (const auto& [path, values] : counts) {
      if (!path.ends_with(kType)) continue;
      std::string block = plain(path);
      block.resize(std::min(block.rfind('.'), block.size()));
      const auto plugin = usual.find(block + std::string(kType));
      if (plugin == usual.end()) continue;
      if (std::ranges::all_of(runs, [&](const Options& run) {
            const std::string* around = value_of(run, plugin->first);
            return value_of(run, path) == nullptr || (around && *around == plugin->second);
          }))
        parts.insert(path);
    }
    return parts;
  }
};

// Removes the diagnostics, which only observe a model, if the other options tell all runs apart.
std::vector<Difference> without_diagnostics(std::vector<Difference> all) {
  std::vector<Difference> plain = all;
  for (Difference& one : plain)
    std::erase_if(one, [](const auto& option) { return option.first.starts_with("diagnostics"); });
  return std::set(plain.begin(), plain.end()).size() == plain.size() ? plain : all;
}

// Returns the differences of all runs. parts: paths that are listed even if their plugins imply them.
std::vector<Difference> differing(const Counted& counted, const std::set<std::string>& parts) {
  std::map<std::string, bool> with_plugin;
  const auto told_by_plugin = [&](const std::string& path) {
    const auto [known, is_new] = with_plugin.try_emplace(path);
    if (is_new) known->second = goes_with_plugin(path, counted.runs);
    return known->second;
  };
  std::vector<Difference> found;
  for (const Options& options : counted.runs) {
    Difference& difference = found.emplace_back();
    for (const auto& [path, value] : options)
      if (value->second < counted.readable && (parts.contains(*path) || !told_by_plugin(*path)))
        difference.emplace_back(*path, short_digest(value->first));
    std::sort(difference.begin(), difference.end(), [](const auto& a, const auto& b) {
      const auto place = [](const std::string& path) {
        return std::pair(path != "seed", plain(path));
      };
      return place(a.first) < place(b.first);
    });
  }
  return without_diagnostics(std::move(found));
}

}  // namespace

std::vector<Difference> differences(const std::vector<std::string>& identities) {
  return differing(Counted(identities), {});
}

std::set<std::string> naming_parts(const std::vector<std::string>& identities) {
  return Counted(identities).naming_parts();
}

std::map<std::string, std::string> options_of(const std::string& identity) {
  const Json json = read_json<Json>(identity);
  if (!json.is_object()) throw DataError("an identity that is no JSON object");
  Leaves leaves;
  collect(json, "", leaves);
  return leaves;
}

std::map<std::string, std::string> short_names(const std::set<std::string>& paths) {
  std::set<std::string> plain_paths;
  for (const std::string& path : paths) plain_paths.insert(plain(path));
  std::map<std::string, std::string> names;
  const std::set<std::string> qualify_name = names_to_qualify();
  for (const std::string& path : paths)
    names[path] = short_name(plain(path), plain_paths, qualify_name);
  return names;
}

std::map<std::string, std::string> short_names(const std::vector<Difference>& all) {
  std::set<std::string> paths;
  for (const Difference& difference : all)
    for (const auto& [path, value] : difference) paths.insert(path);
  return short_names(paths);
}

namespace {

// parts: paths that replace the plugins around them in the name.
std::string legend_name(const Difference& difference,
                        const std::map<std::string, std::string>& names,
                        const std::set<std::string>& parts) {
  std::string plugins, options;
  for (const auto& option : difference) {
    const std::string &path = option.first, &value = option.second;
    const bool is_plugin = path.ends_with(kType);
    const std::string block = path.substr(0, path.size() - (is_plugin ? kType.size() - 1 : 0));
    const bool has_part = std::ranges::any_of(difference, [&](const auto& other) {
      return other.first != path && other.first.starts_with(block) && parts.contains(other.first);
    });
    if (is_plugin && has_part) continue;
    if (is_plugin)
      plugins += (plugins.empty() ? "" : " ") + value;
    else
      options += fmt::format("{}{} {}", options.empty() ? "" : ", ", names.at(path), value);
  }
  return plugins + (plugins.empty() || options.empty() ? "" : ", ") + options;
}

}  // namespace

std::vector<std::string> legend_names(const std::vector<std::string>& identities) {
  const Counted counted(identities);
  const std::set<std::string> parts = counted.naming_parts();
  const std::vector<Difference> all = differing(counted, parts);
  const std::map<std::string, std::string> names = short_names(all);
  std::vector<std::string> legends;
  for (const Difference& one : all) legends.push_back(legend_name(one, names, parts));
  return legends;
}

std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names) {
  std::string text;
  for (const auto& [path, value] : difference)
    text += (text.empty() ? "" : " ") + names.at(path) + "=" + value;
  return text;
}

}  // namespace softalign
