#include "framework/analysis/run_values.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/config/value.hpp"

namespace softalign {
namespace {

const std::string kTestValues = "test/";

Cell cell_of(const JsonObject& value) {
  if (value.is_number_integer()) return value.get<Index>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return {};
  return JsonValue{value.dump(-1, ' ', false, JsonObject::error_handler_t::replace)};
}

void add_options(const JsonObject& json, const std::string& path, RunValues& values) {
  for (const auto& [key, value] : json.items()) {
    const std::string below = path.empty() ? key : path + "." + key;
    if (value.is_object())
      add_options(value, below, values);
    else
      values[below] = cell_of(value);
  }
}

// Shortens the path of a plugin's type to the plugin, without ".type".
std::string plugin_path(const std::string& path) {
  constexpr std::string_view kTypeEnd = ".type";
  return path.ends_with(kTypeEnd) ? path.substr(0, path.size() - kTypeEnd.size()) : path;
}

bool ends_in(const std::string& path, const std::string& name) {
  return ("." + path).ends_with("." + name) || ("." + plugin_path(path)).ends_with("." + name);
}

std::optional<double> number_in(const std::string& text) {
  try {
    return to_number(Value::scalar(text, {}), {});
  } catch (const ScalarFault&) {
    return std::nullopt;
  }
}

std::optional<double> number_of(const Cell& cell) {
  if (const auto* whole = std::get_if<Index>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return std::nullopt;
}

// Returns -1, 0 or 1 for the order of a cell and a value; nothing if the cell is empty.
std::optional<int> order_of(const Cell& cell, const std::string& value) {
  const std::string text = cell_text(cell);
  if (text.empty()) return std::nullopt;
  const auto sign = [](const auto& a, const auto& b) { return a < b ? -1 : b < a ? 1 : 0; };
  const auto left = number_of(cell), right = number_in(value);
  return left && right ? sign(*left, *right) : sign(text, value);
}

bool has_item(const Cell& cell, const std::string& value) {
  const auto* list = std::get_if<JsonValue>(&cell);
  if (!list) return false;
  const auto json = read_json<JsonObject>(list->text);
  return json.is_array() && std::ranges::any_of(json, [&](const JsonObject& item) {
           return order_of(cell_of(item), value) == 0;
         });
}

bool meets(const Cell& cell, const Condition& condition) {
  const std::optional<int> order = order_of(cell, condition.value);
  const bool equal = order == 0 || has_item(cell, condition.value);
  if (condition.op == "=") return equal;
  if (condition.op == "!=") return !equal;
  if (!order) return false;
  if (condition.op == "<") return *order < 0;
  if (condition.op == ">") return *order > 0;
  return condition.op == "<=" ? *order <= 0 : *order >= 0;
}

// Returns "; did you mean 'units'?", or a list of the valid names.
std::string nearest_name(const std::string& name, const std::set<std::string>& columns) {
  std::set<std::string> names;
  for (const std::string& column : columns) {
    const std::string option = plugin_path(column);
    names.insert(column.find('/') == column.npos ? option.substr(option.rfind('.') + 1) : column);
  }
  const std::string text = suggestion(name, {names.begin(), names.end()});
  if (const std::size_t end = text.find(" legal: "); end > 1 && end != text.npos)
    return text.substr(0, end);
  return fmt::format("; there are options, metrics (dev/loss, test/bleu), age, {}",
                     fmt::join(run_facts(), ", "));
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

const std::vector<std::string>& run_facts() {
  static const std::vector<std::string> kFacts = {"run_id",
                                                  "name",
                                                  "path",
                                                  "state",
                                                  "seed",
                                                  "updates",
                                                  "started",
                                                  "seconds",
                                                  "host",
                                                  "commit",
                                                  "tags",
                                                  "notes"};
  return kFacts;
}

RunValues run_values(const Run& run) {
  RunValues values;
  if (const auto json = read_json<JsonObject>(run.identity); json.is_object())
    add_options(json, "", values);
  for (std::size_t m = 0; m < run.test.metrics.size() && !run.test.rows.empty(); ++m)
    values[kTestValues + run.test.metrics[m]] = run.test.at(0, m);
  values.try_emplace("seed");
  values["run_id"] = run.run_id;
  values["name"] = run.name;
  values["path"] = run.path.string();
  values["state"] = run.state();
  values["updates"] = run.status.last_update;
  values["started"] = run.origin.started;
  values["seconds"] = run.origin.seconds;
  values["host"] = run.origin.host;
  values["commit"] = run.origin.commit;
  values["tags"] = cell_of(run.origin.tags);
  values["notes"] = run.origin.notes;
  return values;
}

std::string cell_text(const Cell& cell) {
  if (const auto* whole = std::get_if<Index>(&cell)) return fmt::format("{}", *whole);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* json = std::get_if<JsonValue>(&cell)) return json->text;
  const auto* number = std::get_if<double>(&cell);
  return number && !std::isnan(*number) ? number_text(*number) : "";
}

JsonObject cell_json(const Cell& cell) {
  if (const auto* whole = std::get_if<Index>(&cell)) return *whole;
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* json = std::get_if<JsonValue>(&cell)) return read_json<JsonObject>(json->text);
  const auto* number = std::get_if<double>(&cell);
  return number ? JsonObject(*number) : JsonObject();
}

std::vector<Condition> read_conditions(const std::string& text, const std::string& option) {
  std::vector<Condition> all;
  std::size_t at = 0;
  const auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  const auto refuse = [&](const std::string& expected) {
    throw SpecError(
        "{} '{}': expected {} at '{}'; conditions are written as units>64 and score=dot",
        option,
        printable(text),
        expected,
        printable(text.substr(std::min(at, text.size()))));
  };
  // Reads up to the first of `ends`, or to the end of the text.
  const auto word = [&](const char* ends) {
    const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
    std::string found = text.substr(at, end - at);
    at = end;
    return found;
  };
  while (true) {
    skip_blanks();
    Condition& condition = all.emplace_back();
    condition.name = word(" \t=!<>");
    if (condition.name.empty()) refuse("a name");
    skip_blanks();
    for (const char* op : {"!=", "<=", ">=", "=", "<", ">"})
      if (condition.op.empty() && text.compare(at, std::string_view(op).size(), op) == 0)
        condition.op = op;
    if (condition.op.empty()) refuse("one of = != < <= > >=");
    at += condition.op.size();
    skip_blanks();
    if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
      const char quote[] = {text[at++], 0};
      condition.value = word(quote);
      if (at++ >= text.size()) refuse(fmt::format("a closing {}", quote));
    } else {
      condition.value = word(" \t");
      if (condition.value.empty()) refuse("a value");
    }
    skip_blanks();
    if (at >= text.size()) return all;
    if (word(" \t") != "and") refuse("'and' before the next condition");
  }
}

RunTable::RunTable(const std::vector<const Run*>& runs, double now) {
  for (const Run* run : runs) {
    RunValues& values = runs_.emplace_back(run_values(*run));
    for (const auto& [column, numbers] : run->dev.columns)
      values["dev/" + column] = last_value(run->dev, column);
    for (const auto& [name, value] : run->status.metrics) values[name] = value;
    const double heartbeat = run->status.heartbeat;
    values["age"] = heartbeat > 0 ? Cell(std::max(0.0, now - heartbeat)) : Cell();
  }
}

std::string RunTable::column(const std::string& name, const std::string& option) const {
  std::map<std::string, std::set<std::string>> all;  // values of each column
  for (const RunValues& run : runs_)
    for (const auto& [column, cell] : run) all[column].insert(cell_text(cell));
  if (name == "run") return "run_id";
  for (const std::string& column : {name, kTestValues + name})
    if (all.contains(column)) return column;
  std::vector<std::string> found;
  for (const auto& [column, values] : all)
    if (ends_in(column, name)) found.push_back(column);
  const auto differs = [&](const std::string& column) { return all[column].size() > 1; };
  if (std::ranges::any_of(found, differs))
    std::erase_if(found, [&](const std::string& column) { return !differs(column); });
  const auto same = [&](const std::string& column) {
    return std::ranges::all_of(runs_, [&](const RunValues& run) {
      const auto a = run.find(column), b = run.find(found.front());
      return (a == run.end() ? Cell() : a->second) == (b == run.end() ? Cell() : b->second);
    });
  };
  if (!found.empty() && std::ranges::all_of(found, same)) return found.front();
  if (found.empty()) {
    std::set<std::string> names;
    for (const auto& [column, values] : all) names.insert(column);
    throw SpecError(
        "{}: no run here has a '{}'{}", option, printable(name), nearest_name(name, names));
  }
  std::string list;
  for (const std::string& column : found) list += (list.empty() ? "" : ", ") + column;
  throw SpecError("{}: '{}' may be {}; write more of its path", option, printable(name), list);
}

const Cell& RunTable::at(std::size_t run, const std::string& column) const {
  static const Cell kNothing;
  const auto found = runs_[run].find(column);
  return found == runs_[run].end() ? kNothing : found->second;
}

std::vector<std::size_t> RunTable::meeting(const std::vector<Condition>& conditions,
                                           const std::string& option) const {
  std::vector<std::size_t> kept(runs_.size());
  std::iota(kept.begin(), kept.end(), 0);
  if (kept.empty()) return kept;
  for (const Condition& condition : conditions) {
    const std::string name = column(condition.name, option);
    std::erase_if(kept, [&](std::size_t run) { return !meets(at(run, name), condition); });
  }
  return kept;
}

std::vector<std::size_t> RunTable::sorted(const std::string& column) const {
  const std::size_t slash = column.rfind('/');
  const bool highest = slash == column.npos
                           ? column == "updates" || column == "started"
                           : higher_is_better(column.substr(slash + 1)).value_or(false);
  const auto before = [&](std::size_t a, std::size_t b) {
    const auto key = [&](std::size_t run) {
      const Cell& cell = at(run, column);
      const std::string text = cell_text(cell);
      return std::tuple(text.empty(), number_of(cell).value_or(0), text);
    };
    auto left = key(a), right = key(b);
    if (highest && !std::get<0>(left) && !std::get<0>(right)) std::swap(left, right);
    return left < right;
  };
  std::vector<std::size_t> order(runs_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, before);
  return order;
}

}  // namespace softalign
