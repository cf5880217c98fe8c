#include "framework/study/settings.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include "framework/base/text.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/yaml.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

constexpr std::array<std::string_view, 5> kMethods = {
    "variants", "grid", "random", "zip", "optuna"};  // in the order of the enum

Value list_of(const Value& text) {
  Value list = text;
  list.type = Value::Type::list;
  for (std::size_t at = 0; at <= text.text.size();) {
    const std::size_t end = std::min(text.text.find(',', at), text.text.size());
    list.items.push_back(
        Value::scalar(std::string(trimmed(text.text.substr(at, end - at))), text.where));
    at = end + 1;
  }
  return list;
}

}  // namespace

std::vector<Index> read_seeds(const Value& value, bool command_line) {
  if (command_line && value.is_scalar()) return read_seeds(list_of(value));
  std::vector<Index> seeds;
  if (value.is_map()) {
    Fields fields(value, "seeds");
    const Value* const first = fields.find("first");
    const Value& count = fields.get("count");
    fields.finish();
    const Index begin = first ? integer_of(*first, "first", between(0, 1e15)) : 1;
    for (Index i = 0; i < integer_of(count, "count", between(1, 1000)); ++i)
      seeds.push_back(begin + i);
    return seeds;
  }
  if (value.is_scalar())
    throw SpecError("{}: seeds: write a list, [1, 2, 3], or {{first: 1, count: {}}}",
                    value.where.str(),
                    printable(value.text));
  for (const Value& item : items_of(value, "seeds")) {
    seeds.push_back(integer_of(item, "seeds", between(0, 1e15)));
    if (std::ranges::count(seeds, seeds.back()) > 1)
      throw SpecError("{}: seed {} comes twice", item.where.str(), seeds.back());
  }
  if (seeds.empty())
    throw SpecError("{}: no seeds; give a list, or {{first: 1, count: 3}}", value.where.str());
  return seeds;
}

namespace {

// Checks that the metric is a registered dev metric with a better direction, and sets its goal.
void check_metric(ComparedMetric& metric, const Position& where) {
  if (!metric.name.starts_with("dev/"))
    throw SpecError(
        "{}: metric '{}' must be \"dev/\" and a metric's name, such as dev/loss: choosing by the "
        "test set would spoil it",
        where.str(),
        printable(metric.name));
  const std::string name = metric.name.substr(4);
  Registry::instance().find(MetricKind::name, name, where);
  bool higher = true;
  try {
    higher = highest_is_best(name);
  } catch (const SpecError& unfit) {
    throw SpecError("{}: metric: {}", where.str(), unfit);
  }
  const std::string own = higher ? "maximize" : "minimize";
  if (!metric.goal.empty() && metric.goal != own)
    throw SpecError("{}: {} is better when it is {}; goal: {}",
                    where.str(),
                    metric.name,
                    higher ? "higher" : "lower",
                    own);
  metric.goal = own;
}

}  // namespace

std::string_view to_string(SweepMethod method) {
  return kMethods.at(static_cast<std::size_t>(method));
}

bool from_string(std::string_view name, SweepMethod& method) {
  const auto found = std::ranges::find(kMethods, name);
  if (found == kMethods.end()) return false;
  method = static_cast<SweepMethod>(found - kMethods.begin());
  return true;
}

void read_settings(Fields& fields, const Position& where, SweepSettings& settings) {
  if (const Value* const seeds = fields.find("seeds")) settings.seeds = read_seeds(*seeds);
  const Value* const metric = fields.find("metric");
  if (metric && metric->is_scalar())
    throw SpecError("{}: metric: write {{name: {}}}", metric->where.str(), printable(metric->text));
  if (metric) read_options(*metric, settings.metric, "metric");
  check_metric(settings.metric, metric ? metric->where : where);
  if (const Value* const early = fields.find("early_terminate"))
    read_options(*early, settings.early_terminate, "early_terminate");
}

std::optional<Index> limit_seconds(const std::string& time) {
  static const std::regex pattern(
      "(?:([0-9]{1,6})-)?([0-9]{1,6})(?::([0-9]{1,6}))?(?::([0-9]{1,6}))?");
  std::smatch part;
  if (!std::regex_match(time, part, pattern)) return std::nullopt;
  const auto number = [&](std::size_t i) -> Index {
    return part[i].matched ? std::stoll(part[i].str()) : 0;
  };
  const Index first = number(2), second = number(3), third = number(4);
  if (part[1].matched) return 86400 * number(1) + 3600 * first + 60 * second + third;
  if (part[4].matched) return 3600 * first + 60 * second + third;
  return 60 * first + second;
}

PlacedResources read_resources(const Value* block,
                               const std::optional<std::filesystem::path>& profile) {
  PlacedResources resources;
  Value root = Value::map({"the sweep's defaults"});
  if (block) root = *block;
  if (profile) {
    Value over = read_yaml(*profile);
    if (!over.is_map())
      throw SpecError("{}: a profile is a map, as 'partition: short', not {}",
                      over.where.str(),
                      over.describe());
    std::vector<std::string> notes;  // not reported: a profile is meant to replace values
    const Position where = over.where;
    if (block)
      merge(root, std::move(over), "resources", notes);
    else
      root = std::move(over);
    root.where = where;
  }
  resources.where = root.where;
  read_options(root, resources.values, "the resources");
  return resources;
}

}  // namespace softalign
