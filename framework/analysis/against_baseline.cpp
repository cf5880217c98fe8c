#include "framework/analysis/comparison.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

struct PairedRuns {
  const Run* baseline;
  const Run* run;
};

// Returns the pairs of runs with the same seed, ordered by seed.
std::vector<PairedRuns> pairs_of(const ComparedGroup& baseline, const ComparedGroup& group) {
  std::vector<PairedRuns> pairs;
  for (const Run* run : group.runs)
    for (const Run* other : baseline.runs)
      if (run->seed == other->seed) pairs.push_back({other, run});
  return pairs;
}

// Returns the reason why a column cannot be tested on the test sentences of these pairs; empty if it can.
std::string obstacle(const std::vector<PairedRuns>& pairs,
                     const ComparisonColumn& column,
                     const Metric* metric,
                     const LengthRange& lengths) {
  if (pairs.empty()) return "no seed in common";
  if (!metric) return "no registered metric: give its plugin with --plugin";
  if (const MetricFacts ours = metric->facts(); !counts_alike(ours, column.facts.signature))
    return fmt::format("this program's signature is {}", ours.signature);
  for (const PairedRuns& pair : pairs)
    for (const Run* run : {pair.baseline, pair.run})
      if (run->results.counts.sentences() == 0 || run->test_set != pairs.front().baseline->test_set)
        return "other test sentences";
  for (const PairedRuns& pair : pairs)
    for (const Run* run : {pair.baseline, pair.run})
      if (run->results.source_lengths != pairs.front().baseline->results.source_lengths &&
          (!lengths.all() || run->results.source_lengths.size() !=
                                 pairs.front().baseline->results.source_lengths.size()))
        return "lengths count something else: evaluate.length_unit, or the pieces, differ";
  for (const PairedRuns& pair : pairs)
    for (const Run* run : {pair.baseline, pair.run})
      if (run->results.clusters != pairs.front().baseline->results.clusters)
        return "other clusters of the test sentences";
  for (const PairedRuns& pair : pairs)
    for (const Run* run : {pair.baseline, pair.run})
      if (std::isnan(run->test.find("all", column.name.metric))) return "a seed without a value";
  for (const PairedRuns& pair : pairs)
    for (const Run* run : {pair.baseline, pair.run})
      if (!is_measured_alike(*run, column.name.metric))
        return "another plugin of that name measured it";
  return "";
}

SystemResults results_of(const std::vector<PairedRuns>& pairs,
                         const Run* PairedRuns::*side,
                         const LengthRange& lengths) {
  SystemResults results;
  for (const PairedRuns& pair : pairs) {
    const StoredResults& stored = (pair.*side)->results;
    results.seeds.push_back({&stored.counts.layout(), rows_of(stored.counts)});
    results.clusters = stored.clusters;
    results.test_set = (pair.*side)->test_set;
    results.skipped = stored.outside(lengths.shortest, lengths.longest);
  }
  return results;
}

// Returns the differences over the seeds, without a test. Pairs with different test sentences are skipped.
AgainstBaseline difference_of(const std::vector<PairedRuns>& pairs,
                              const ComparisonColumn& column,
                              const LengthRange& lengths) {
  AgainstBaseline against;
  std::vector<double> differences;
  for (const PairedRuns& pair : pairs) {
    if (column.name.series.empty() && pair.run->test_set != pair.baseline->test_set) continue;
    const double difference =
        value_of(*pair.run, column.name, lengths) - value_of(*pair.baseline, column.name, lengths);
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  against.difference = over_seeds(differences);
  against.estimate.value = against.difference.mean;
  return against;
}

// Compares a group with the baseline in all columns; all tests use the same draws.
std::vector<AgainstBaseline> group_against(const Comparison& comparison,
                                           std::size_t g,
                                           const BootstrapOptions& draws) {
  const std::vector<PairedRuns> pairs =
      pairs_of(comparison.groups[comparison.baseline], comparison.groups[g]);
  std::vector<AgainstBaseline> all;
  std::vector<std::unique_ptr<Metric>> metrics;
  std::vector<const Metric*> tested;
  std::vector<std::size_t> places;  // indices in `all` of the tested columns
  for (std::size_t c = 0; c < comparison.columns.size(); ++c) {
    const ComparisonColumn& column = comparison.columns[c];
    if (column.cells[g].count == 0 || column.cells[comparison.baseline].count == 0) continue;
    AgainstBaseline& against = all.emplace_back(difference_of(pairs, column, comparison.lengths));
    against.group = g;
    against.column = c;
    if (!column.name.series.empty()) continue;
    metrics.push_back(metric_named(column.name.metric));
    against.untested = obstacle(pairs, column, metrics.back().get(), comparison.lengths);
    if (!against.untested.empty()) continue;
    tested.push_back(metrics.back().get());
    places.push_back(all.size() - 1);
  }
  if (tested.empty() || pairs.size() == 1) return all;
  const auto estimates = differences(tested,
                                     results_of(pairs, &PairedRuns::baseline, comparison.lengths),
                                     results_of(pairs, &PairedRuns::run, comparison.lengths),
                                     draws);
  for (std::size_t t = 0; t < estimates.size(); ++t)
    if (std::isnan(estimates[t].value))
      all[places[t]].untested = "a seed without a finite value";
    else if (std::isnan(estimates[t].error))
      all[places[t]].untested =
          fmt::format("fewer than {} independent sentences, or no resamples", kFewestSentences);
    else
      all[places[t]].estimate = estimates[t];
  return all;
}

// Corrects the p-values for the number of comparisons in their column.
void correct(std::vector<AgainstBaseline>& all, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<AgainstBaseline*> of_column;
    std::vector<double> p;
    for (AgainstBaseline& against : all)
      if (against.column == c) {
        of_column.push_back(&against);
        p.push_back(against.estimate.p);
      }
    p = holm(p);
    for (std::size_t i = 0; i < of_column.size(); ++i) of_column[i]->p_holm = p[i];
  }
}

// Returns whether a parameter of the group has this value, such as "none" or "dot".
bool has_value(const ComparedGroup& group, const std::string& given) {
  return std::ranges::any_of(group.parameters,
                             [&](const auto& one) { return one.second == given; });
}

bool has_parameters(const ComparedGroup& group,
                    const std::string& given,
                    const std::map<std::string, std::string>& names) {
  std::istringstream words(given);
  for (std::string word; words >> word;) {
    const auto is_this = [&](const auto& parameter) {
      const auto& [path, value] = parameter;
      return ("." + path + "=" + value).ends_with("." + word) ||
             word == names.at(path) + "=" + value;
    };
    if (std::none_of(group.parameters.begin(), group.parameters.end(), is_this)) return false;
  }
  return true;
}

}  // namespace

std::size_t group_named(const std::vector<ComparedGroup>& groups, const std::string& given) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(given.data(), given.data() + given.size(), number);
  if (parsed.ec == std::errc{} && parsed.ptr == given.data() + given.size() && number >= 1 &&
      number <= groups.size())
    return number - 1;
  constexpr std::size_t kShortest = 4;  // of a run ID's prefix: "9" is an invalid group number
  std::vector<Difference> parameters;
  for (const ComparedGroup& group : groups) parameters.push_back(group.parameters);
  const auto names = short_names(parameters);
  std::vector<std::size_t> meant;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& runs = groups[g].runs;
    const bool named = std::any_of(runs.begin(), runs.end(), [&](const Run* run) {
      return (given.size() >= kShortest && run->run_id.starts_with(given)) || run->name == given;
    });
    if (given.find('=') == given.npos ? named || has_value(groups[g], given)
                                      : has_parameters(groups[g], given, names))
      meant.push_back(g);
  }
  if (meant.size() == 1) return meant.front();
  throw SpecError(
      "--baseline {}: {} of the {} groups; give its number (1 to {}), its parameters as "
      "KEY=VALUE, a value or name that no other group has, or the beginning of a run's id",
      printable(given),
      meant.empty() ? "none" : fmt::format("{}", meant.size()),
      groups.size(),
      groups.size());
}

std::set<const Run*> paired_runs(const Comparison& comparison) {
  std::set<const Run*> paired;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g)
    if (g != comparison.baseline)
      for (const PairedRuns& pair :
           pairs_of(comparison.groups[comparison.baseline], comparison.groups[g]))
        paired.insert({pair.baseline, pair.run});
  return paired;
}

std::vector<AgainstBaseline> against_baseline(const Comparison& comparison,
                                              const BootstrapOptions& draws) {
  std::vector<AgainstBaseline> all;
  for (std::size_t g = 0; g < comparison.groups.size(); ++g)
    if (g != comparison.baseline)
      for (AgainstBaseline& against : group_against(comparison, g, draws))
        all.push_back(std::move(against));
  correct(all, comparison.columns.size());
  std::stable_sort(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
  return all;
}

}  // namespace softalign
