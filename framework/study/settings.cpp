#include "framework/study/settings.hpp"

#include <algorithm>
#include <array>

#include "framework/config/reader.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

constexpr std::array<std::string_view, 5> kMethods = {
    "variants", "grid", "random", "zip", "optuna"};  // in the order of the enum

std::vector<Index> read_seeds(const Value& value) {
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

// That the metric is one of dev, and which way it is good.
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

}  // namespace softalign
