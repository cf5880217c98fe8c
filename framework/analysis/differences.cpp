#include "framework/analysis/differences.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/array.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/linear_algebra.hpp"
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

// A plugin's name stands for the plugin: score.type is score.
std::string plain(const std::string& path) {
  return path.ends_with(".type") ? path.substr(0, path.size() - 5) : path;
}

struct Option {  // of a run, as it is counted
  const std::string* path;
  const std::pair<const std::string, std::size_t>* value;
};
using Options = std::vector<Option>;  // by path

const std::string* value_of(const Options& run, const std::string& path) {
  const auto path_of = [](const Option& option) -> const std::string& { return *option.path; };
  const auto found = std::ranges::lower_bound(run, path, {}, path_of);
  return found == run.end() || *found->path != path ? nullptr : &found->value->first;
}

// The plugins that an option's blocks are, from the inmost on; "" where a run has none.
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

// Whether an option that is the same wherever there is one is missing elsewhere only because there
// another plugin is in its place: the plugin's own name says enough.
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

// Of the options that say nothing without the block that they are in.
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

constexpr std::string_view kType = ".type";

// Without what only looks at a model, where the rest tells all apart.
std::vector<Difference> without_diagnostics(std::vector<Difference> all) {
  std::vector<Difference> plain = all;
  for (Difference& one : plain)
    std::erase_if(one, [](const auto& option) { return option.first.starts_with("diagnostics"); });
  return std::set(plain.begin(), plain.end()).size() == plain.size() ? plain : all;
}

// parts: with the plugins that are parts of plugins of which there are several.
std::vector<Difference> differing(const std::vector<std::string>& identities, bool parts) {
  std::vector<Options> runs;
  ValueCounts counts;
  std::size_t readable = 0;
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
  std::map<std::string, bool> with_plugin;
  const auto told_by_plugin = [&](const std::string& path) {
    const auto [known, is_new] = with_plugin.try_emplace(path);
    if (is_new) known->second = goes_with_plugin(path, runs);
    return known->second;
  };
  std::vector<Difference> found;
  for (const Options& options : runs) {
    Difference& difference = found.emplace_back();
    for (const auto& [path, value] : options)
      if (value->second < readable && ((parts && path->ends_with(kType)) || !told_by_plugin(*path)))
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
  return differing(identities, false);
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

// whole: with the plugins whose part differs, too.
std::string legend_name(const Difference& difference,
                        const std::map<std::string, std::string>& names,
                        bool whole) {
  std::string plugins, options;
  for (const auto& option : difference) {
    const std::string &path = option.first, &value = option.second;
    const bool is_plugin = path.ends_with(kType);
    const std::string block = path.substr(0, path.size() - (is_plugin ? kType.size() - 1 : 0));
    const bool has_part = std::ranges::any_of(difference, [&](const auto& other) {
      return other.first != path && other.first.starts_with(block) && other.first.ends_with(kType);
    });
    if (is_plugin && has_part && !whole) continue;
    if (is_plugin)
      plugins += (plugins.empty() ? "" : " ") + value;
    else
      options += fmt::format("{}{} {}", options.empty() ? "" : ", ", names.at(path), value);
  }
  return plugins + (plugins.empty() || options.empty() ? "" : ", ") + options;
}

}  // namespace

std::vector<std::string> legend_names(const std::vector<std::string>& identities) {
  const std::vector<Difference> all = differing(identities, true);
  const std::map<std::string, std::string> names = short_names(all);
  std::vector<std::string> legends;
  for (const bool whole : {false, true}) {
    legends.clear();
    for (const Difference& one : all) legends.push_back(legend_name(one, names, whole));
    if (std::set(legends.begin(), legends.end()).size() == legends.size()) break;
  }
  return legends;
}

std::string difference_text(const Difference& difference,
                            const std::map<std::string, std::string>& names) {
  std::string text;
  for (const auto& [path, value] : difference)
    text += (text.empty() ? "" : " ") + names.at(path) + "=" + value;
  return text;
}

namespace {

using Column = xt::xtensor<double, 1>;  // [runs]
using Columns = std::vector<Column>;

double dot(const Column& a, const Column& b) { return sum_of(a * b); }

// The sum of squares that least squares on these columns leaves of y. A column that is a sum of others adds nothing.
double residual(const Columns& columns, const Column& y) {
  if (columns.empty()) return dot(y, y);
  xt::xtensor<double, 2> x({y.size(), columns.size()});
  for (std::size_t i = 0; i < columns.size(); ++i)
    xt::col(x, static_cast<std::ptrdiff_t>(i)) =
        columns[i] / std::sqrt(dot(columns[i], columns[i]));
  const Array1d coefficients = least_squares(x, y, 1e-10);
  const Column rest = y - xt::sum(x * coefficients, {1});
  return dot(rest, rest);
}

Column centred(const Column& numbers) {
  return numbers - sum_of(numbers) / static_cast<double>(numbers.size());
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = fault == std::errc() && end == text.data() + text.size();
  return is_number && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

// Of many numbers: z and its square.
Columns parabola(Column numbers) {
  const auto [least, most] = std::ranges::minmax_element(numbers);
  if (*least > 0 && *most >= 10 * *least)
    for (double& number : numbers) number = exact::log(number);
  const Column z = centred(numbers);
  return {z, centred(z * z)};
}

// A parameter as columns, by its value in each run.
Columns columns_of(const std::vector<std::string>& values) {
  constexpr std::size_t kLevels = 4;
  std::map<std::string, std::size_t> levels;
  Column numbers = xt::zeros<double>({values.size()});
  bool are_numbers = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    levels.emplace(values[i], levels.size());
    const std::optional<double> number = number_of(values[i]);
    are_numbers = are_numbers && number;
    numbers(i) = number.value_or(0);
  }
  if (are_numbers && levels.size() > kLevels) return parabola(std::move(numbers));
  Columns columns(levels.size() - 1, xt::zeros<double>({values.size()}));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (const std::size_t level = levels.at(values[i]); level > 0) columns[level - 1](i) = 1;
  for (Column& column : columns) column = centred(column);
  return columns;
}

Columns products_of(const Columns& a, const Columns& b) {
  Columns products;
  for (const Column& one : a)
    for (const Column& other : b)
      if (Column product = centred(one * other); dot(product, product) > 0)
        products.push_back(std::move(product));
  return products;
}

void put_largest_first(std::vector<Effect>::iterator begin, std::vector<Effect>::iterator end) {
  std::stable_sort(begin, end, [](const Effect& a, const Effect& b) { return a.share > b.share; });
}

}  // namespace

std::optional<Importance> importance_of(const std::vector<Difference>& settings,
                                        const std::vector<double>& values) {
  std::map<std::string, std::vector<std::string>> given;  // by path, [runs]; "": not set
  for (std::size_t run = 0; run < settings.size(); ++run)
    for (const auto& [path, value] : settings[run]) {
      auto& of_path = given[path];
      of_path.resize(settings.size());
      of_path[run] = value;
    }
  given.erase("seed");
  std::vector<std::pair<std::string, Columns>> parameters;
  std::size_t levels = 1;
  for (const auto& [path, of_path] : given)
    if (Columns columns = columns_of(of_path); !columns.empty()) {
      levels += columns.size();
      parameters.emplace_back(path, std::move(columns));
    }
  if (parameters.size() < 2 || values.size() < 2 * levels) return std::nullopt;
  const Column y = centred(xt::adapt(values));
  const double whole = dot(y, y);
  if (!(whole > 0) || !std::isfinite(whole)) return std::nullopt;

  const auto main_effects = [&](const std::string& left_out) {
    Columns all;
    for (const auto& [path, columns] : parameters)
      if (path != left_out) all.insert(all.end(), columns.begin(), columns.end());
    return all;
  };
  const Columns all = main_effects("");
  const double rest = residual(all, y);
  const auto share = [&](double squares) { return std::max(squares, 0.) / whole; };
  Importance found{std::ssize(values), share(whole - rest), {}};
  for (const auto& [path, columns] : parameters)
    found.effects.push_back({{path}, share(residual(main_effects(path), y) - rest)});
  put_largest_first(found.effects.begin(), found.effects.end());
  const std::ptrdiff_t single = std::ssize(found.effects);
  for (std::size_t a = 0; a < parameters.size(); ++a)
    for (std::size_t b = a + 1; b < parameters.size(); ++b) {
      Columns more = products_of(parameters[a].second, parameters[b].second);
      if (values.size() < 2 * (levels + more.size())) continue;
      more.insert(more.end(), all.begin(), all.end());
      found.effects.push_back(
          {{parameters[a].first, parameters[b].first}, share(rest - residual(more, y))});
    }
  put_largest_first(found.effects.begin() + single, found.effects.end());
  return found;
}

}  // namespace softalign
