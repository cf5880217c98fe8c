#include "framework/analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"

namespace softalign {

Seeds over_seeds(const std::vector<double>& values) {
  Seeds seeds;
  seeds.count = std::ssize(values);
  const double n = static_cast<double>(values.size());
  const auto x = xt::adapt(values);
  seeds.mean = values.empty() ? kUndefined : sum_of(x / n);
  if (values.size() > 1) seeds.deviation = std::sqrt(sum_of(xt::square(x - seeds.mean)) / (n - 1));
  return seeds;
}

int best_of(const std::vector<double>& values, bool higher_is_better) {
  int best = -1;
  double value = kUndefined;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == value) best = -1;
    const bool better = higher_is_better ? values[i] > value : values[i] < value;
    if (!std::isfinite(values[i]) || (std::isfinite(value) && !better)) continue;
    value = values[i];
    best = static_cast<int>(i);
  }
  return best;
}

namespace {

constexpr std::uint64_t kSeed = 1;

struct PairedResults {
  SystemResults baseline, system;
};

using Numbers = xt::xtensor<double, 1>;

// Scores of both systems on every draw.
struct Scores {
  Numbers baseline, system;  // [draws]
};

// Draws `count` test sets, numbered from 1; redraw(given, k, drawn) fills the k-th.
template <class Redraw>
std::vector<Scores> scores_of_draws(const std::vector<const Metric*>& metrics,
                                    const PairedResults& given,
                                    Index count,
                                    Workers& workers,
                                    const Redraw& redraw) {
  const Numbers none = xt::zeros<double>({usize(count)});
  std::vector<Scores> scores(metrics.size(), {none, none});
  constexpr Index kTogether = 100;  // draws that share their memory
  workers.run((count + kTogether - 1) / kTogether, [&](Index piece) {
    PairedResults drawn = given;
    for (Index k = piece * kTogether; k < std::min(count, (piece + 1) * kTogether); ++k) {
      redraw(given, k + 1, drawn);
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        scores[m].baseline(k) = score(*metrics[m], drawn.baseline);
        scores[m].system(k) = score(*metrics[m], drawn.system);
      }
    }
  });
  return scores;
}

Numbers defined(const Numbers& values) { return xt::filter(values, !xt::isnan(values)); }

double mean_of_defined(const Numbers& values) {
  const Numbers numbers = defined(values);
  return ratio(sum_of(numbers), static_cast<double>(numbers.size()));
}

Range percentiles(const Numbers& defined_scores) {
  if (defined_scores.size() == 0) return {kUndefined, kUndefined};
  const Numbers sorted = xt::sort(defined_scores);
  const std::size_t beyond = sorted.size() / 40;  // on each side
  return {sorted(beyond), sorted(sorted.size() - 1 - beyond)};
}

Interval interval(const Numbers& scores) {
  const Numbers numbers = defined(scores);
  const Range range = percentiles(numbers);
  return {mean_of_defined(numbers), (range.high - range.low) / 2};
}

double share_as_extreme(const Numbers& draws, double seen) {
  if (std::isnan(seen)) return kUndefined;
  const double extreme = xt::sum<double>(xt::cast<double>(draws >= seen))();  // a count: exact
  return (extreme + 1) / (static_cast<double>(defined(draws).size()) + 1);
}

double centred_share(const Numbers& differences, double seen) {
  return share_as_extreme(xt::abs(differences - mean_of_defined(differences)), std::abs(seen));
}

// Exchanges the two systems' results of each sentence, in all seeds at once, or not.
void exchange(const RandomStream& stream,
              const PairedResults& given,
              Index k,
              PairedResults& drawn) {
  const std::size_t n = given.baseline.seeds.front().rows.size();
  std::uint32_t coins = 0;
  for (std::size_t i = 0; i < n; ++i) {
    coins = i % 32 == 0 ? stream.word(i / 32, static_cast<std::uint64_t>(k)) : coins >> 1;
    const bool swapped = (coins & 1) != 0;
    for (std::size_t s = 0; s < given.baseline.seeds.size(); ++s) {
      drawn.baseline.seeds[s].rows[i] = (swapped ? given.system : given.baseline).seeds[s].rows[i];
      drawn.system.seeds[s].rows[i] = (swapped ? given.baseline : given.system).seeds[s].rows[i];
    }
  }
}

void take(const std::vector<Index>& places, const SystemResults& given, SystemResults& drawn) {
  for (std::size_t s = 0; s < given.seeds.size(); ++s)
    for (std::size_t i = 0; i < places.size(); ++i)
      drawn.seeds[s].rows[i] = given.seeds[s].rows[usize(places[i])];
}

void check(const PairedResults& pair) {
  const auto &baseline = pair.baseline.seeds, &system = pair.system.seeds;
  const auto same = [&](const SystemResults::Seed& seed) {
    return seed.rows.size() == baseline.front().rows.size();
  };
  if (baseline.empty() || baseline.size() != system.size() ||
      !std::ranges::all_of(baseline, same) || !std::ranges::all_of(system, same))
    throw BugError("a paired test of systems with other seeds or sentences");
}

// The columns of the metrics alone: two systems may have measured different metrics besides, and a
// drawn system has sentences of both.
struct MetricColumns {
  CountLayout layout;
  std::vector<std::vector<double>> numbers;  // what the rows of `of` point to

  explicit MetricColumns(const std::vector<const Metric*>& metrics)
      : layout([&] {
          std::vector<CountColumn> columns;
          for (const Metric* metric : metrics)
            std::ranges::move(metric->columns(), std::back_inserter(columns));
          return CountLayout(std::move(columns));
        }()) {}

  SystemResults of(const SystemResults& given) {
    SystemResults result;
    for (const auto& [own, rows] : given.seeds) {
      auto& copied = numbers.emplace_back();
      copied.reserve(rows.size() * usize(layout.width()));
      for (const double* row : rows)
        for (const CountColumn& column : layout.columns())
          std::copy_n(row + own->place(column.name, column.width),
                      column.width,
                      std::back_inserter(copied));
      CountRows& selected = result.seeds.emplace_back(SystemResults::Seed{&layout, {}}).rows;
      for (std::size_t i = 0; i < rows.size(); ++i)
        selected.push_back(copied.data() + i * usize(layout.width()));
    }
    return result;
  }
};

}  // namespace

Bootstrap::Bootstrap(std::string_view name, Index sentences)
    : stream_(kSeed, name), sentences_(sentences) {}

std::vector<Index> Bootstrap::draw(Index k) const {
  const auto n = static_cast<std::uint32_t>(sentences_);
  std::vector<Index> places;
  places.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i)
    places.push_back(stream_.below(n, i, static_cast<std::uint64_t>(k)));
  return places;
}

double score(const Metric& metric, const SystemResults& system) {
  double sum = 0;
  for (const auto& [layout, rows] : system.seeds) sum += metric.value({*layout, rows});
  return sum / static_cast<double>(system.seeds.size());
}

Range percentile_interval(const Metric& metric, const SystemResults& system, Index resamples) {
  if (std::ssize(system.seeds.front().rows) < kFewestSentences) return {kUndefined, kUndefined};
  const Bootstrap bootstrap("bootstrap", std::ssize(system.seeds.front().rows));
  SystemResults drawn = system;
  std::vector<double> scores;
  for (Index k = 1; k <= resamples; ++k) {
    take(bootstrap.draw(k), system, drawn);
    if (const double value = score(metric, drawn); std::isfinite(value)) scores.push_back(value);
  }
  if (std::ssize(scores) < (resamples + 1) / 2) return {kUndefined, kUndefined};
  return percentiles(xt::adapt(scores));
}

Range range_of(const std::vector<double>& scores) { return percentiles(xt::adapt(scores)); }

Interval interval_of(const std::vector<double>& scores) { return interval(xt::adapt(scores)); }

double p_value(const std::vector<double>& draws, double seen) {
  return share_as_extreme(xt::adapt(draws), seen);
}

double p_bootstrap(const std::vector<double>& differences, double seen) {
  return centred_share(xt::adapt(differences), seen);
}

std::vector<PairedTest> paired_tests(const std::vector<const Metric*>& metrics,
                                     const SystemResults& baseline,
                                     const SystemResults& system,
                                     const PairedTestOptions& options) {
  check({baseline, system});
  MetricColumns columns(metrics);
  const PairedResults given{columns.of(baseline), columns.of(system)};
  Workers workers(std::max(1, options.threads));
  const RandomStream coins(kSeed, "approximate randomisation");
  const auto exchanged =
      scores_of_draws(metrics,
                      given,
                      options.trials,
                      workers,
                      [&](const PairedResults& from, Index k, PairedResults& drawn) {
                        exchange(coins, from, k, drawn);
                      });
  const Bootstrap bootstrap("bootstrap", std::ssize(baseline.seeds.front().rows));
  const auto resampled =
      scores_of_draws(metrics,
                      given,
                      options.resamples,
                      workers,
                      [&](const PairedResults& from, Index k, PairedResults& drawn) {
                        const std::vector<Index> places = bootstrap.draw(k);
                        take(places, from.baseline, drawn.baseline);
                        take(places, from.system, drawn.system);
                      });
  std::vector<PairedTest> tests;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    PairedTest& test = tests.emplace_back();
    test.difference = score(*metrics[m], system) - score(*metrics[m], baseline);
    const double seen = std::abs(test.difference);
    test.p_randomisation =
        share_as_extreme(xt::abs(exchanged[m].system - exchanged[m].baseline), seen);
    test.p_bootstrap = test.p_sacrebleu = kUndefined;
    test.baseline = test.system = test.of_difference = {kUndefined, kUndefined};
    if (std::ssize(baseline.seeds.front().rows) < kFewestSentences) continue;
    test.baseline = interval(resampled[m].baseline);
    test.system = interval(resampled[m].system);
    const Numbers differences = resampled[m].system - resampled[m].baseline;
    test.of_difference = interval(differences);
    test.p_bootstrap = centred_share(differences, seen);
    const Numbers sizes = xt::abs(differences);
    test.p_sacrebleu = share_as_extreme(sizes - mean_of_defined(sizes), seen);
  }
  return tests;
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p_values.size(); ++i)
    if (!std::isnan(p_values[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return p_values[a] < p_values[b];
  });
  std::vector<double> corrected = p_values;
  double least = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    least = std::max(least, p_values[order[rank]] * static_cast<double>(order.size() - rank));
    corrected[order[rank]] = std::min(1.0, least);
  }
  return corrected;
}

}  // namespace softalign
