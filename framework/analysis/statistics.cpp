#include "framework/analysis/statistics.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "framework/base/array.hpp"
#include "framework/base/elementary.hpp"
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

double variance_of(const std::vector<double>& values) {
  const Seeds all = over_seeds(values);
  return all.deviation * all.deviation;
}

bool is_skipped(const SystemResults& system, Index sentence) {
  return !system.skipped.empty() && system.skipped[usize(sentence)];
}

// Sets the rows of `drawn` to those of the sentences that are not skipped.
void take(const std::vector<Index>& sentences, const SystemResults& given, SystemResults& drawn) {
  for (std::size_t s = 0; s < given.seeds.size(); ++s) {
    CountRows& rows = drawn.seeds[s].rows;
    rows.clear();
    for (const Index i : sentences)
      if (!is_skipped(given, i)) rows.push_back(given.seeds[s].rows[usize(i)]);
  }
}

Index sentences_of(const SystemResults& system) { return std::ssize(system.seeds.front().rows); }

// Returns the number of clusters of the sentences that are not skipped.
Index units_of(const SystemResults& system) {
  std::set<Index> units;
  for (Index i = 0; i < sentences_of(system); ++i)
    if (!is_skipped(system, i))
      units.insert(system.clusters.empty() ? i : system.clusters[usize(i)]);
  return std::ssize(units);
}

// Returns numbers of systems on bootstrap samples of their test set, [numbers][draws]; without draws if there are
// too few sentences. of(n, drawn) computes number n of one draw of each system.
template <class Of>
std::vector<std::vector<double>> on_draws(const std::vector<SystemResults>& systems,
                                          std::size_t numbers,
                                          const BootstrapOptions& options,
                                          const Of& of) {
  const SystemResults& first = systems.front();
  const Bootstrap bootstrap(first.test_set, sentences_of(first), first.clusters);
  const Index count = units_of(first) < kFewestSentences ? 0 : options.resamples;
  std::vector all(numbers, std::vector<double>(usize(count)));
  constexpr Index kTogether = 100;  // draws that share their memory
  Workers workers(std::max(1, options.threads));
  workers.run((count + kTogether - 1) / kTogether, [&](Index piece) {
    std::vector<SystemResults> drawn = systems;
    for (Index k = piece * kTogether; k < std::min(count, (piece + 1) * kTogether); ++k) {
      const std::vector<Index> sentences = bootstrap.draw(k + 1);
      for (std::size_t i = 0; i < systems.size(); ++i) take(sentences, systems[i], drawn[i]);
      for (std::size_t n = 0; n < numbers; ++n) all[n][usize(k)] = of(n, drawn);
    }
  });
  return all;
}

double value_of(const Metric& metric, const SystemResults::Seed& seed) {
  return metric.value({*seed.layout, seed.rows});
}

// Returns the mean over the seeds; NaN if the metric is undefined for a seed.
double score(const Metric& metric, const SystemResults& system) {
  double sum = 0;
  for (const SystemResults::Seed& seed : system.seeds) sum += value_of(metric, seed);
  return sum / static_cast<double>(system.seeds.size());
}

// Returns the metric of each seed on the test set.
std::vector<double> values_of(const Metric& metric, const SystemResults& system) {
  std::vector<Index> all(usize(sentences_of(system)));
  std::iota(all.begin(), all.end(), Index{0});
  SystemResults counted = system;
  take(all, system, counted);
  std::vector<double> values;
  for (const SystemResults::Seed& seed : counted.seeds) values.push_back(value_of(metric, seed));
  return values;
}

void check(const SystemResults& baseline, const SystemResults& system) {
  const auto same = [&](const SystemResults::Seed& seed) {
    return seed.rows.size() == baseline.seeds.front().rows.size();
  };
  if (baseline.seeds.empty() || baseline.seeds.size() != system.seeds.size() ||
      baseline.test_set != system.test_set || baseline.clusters != system.clusters ||
      baseline.skipped != system.skipped || !std::ranges::all_of(baseline.seeds, same) ||
      !std::ranges::all_of(system.seeds, same))
    throw BugError("a difference of systems with other seeds or sentences");
}

}  // namespace

Bootstrap::Bootstrap(const std::string& test_set, Index sentences, std::span<const Index> clusters)
    : stream_(kSeed, "bootstrap " + test_set), units_(sentences) {
  if (clusters.empty()) return;
  std::map<Index, std::size_t> numbers;  // in the order of their first sentences
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const auto [cluster, is_new] = numbers.try_emplace(clusters[i], clusters_.size());
    if (is_new) clusters_.emplace_back();
    clusters_[cluster->second].push_back(static_cast<Index>(i));
  }
  units_ = std::ssize(clusters_);
}

std::vector<Index> Bootstrap::draw(Index k) const {
  const auto n = static_cast<std::uint32_t>(units_);
  std::vector<Index> sentences;
  sentences.reserve(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const Index unit = stream_.below(n, i, static_cast<std::uint64_t>(k));
    if (clusters_.empty())
      sentences.push_back(unit);
    else
      std::ranges::copy(clusters_[usize(unit)], std::back_inserter(sentences));
  }
  return sentences;
}

namespace {

// A term of a squared standard error, and the half-width of an interval from this term alone.
struct Part {
  double variance, freedom;

  // Half the width of an interval with coverage 1 - level.
  double half_width(double level) const {
    if (variance == 0) return 0;
    return std::sqrt(variance) * quantile(complement(boost::math::students_t(freedom), level / 2));
  }
};

double half_width(const Part& seeds, const Part& sentences, double level) {
  const double a = seeds.half_width(level), b = sentences.half_width(level);
  return std::sqrt(a * a + b * b);
}

// Returns the level, exp(-x), whose interval has the half-width |value|.
double level_of(double value, const Part& seeds, const Part& sentences) {
  constexpr double kMost = 100, kFinite = 1e100;
  if (value == 0) return 1;
  const auto above = [&](double x) {
    const double level = exact::exp(-x);
    const double half = half_width(seeds, sentences, level);
    return std::min(half / std::abs(value), kFinite) - 1;
  };
  if (above(kMost) <= 0) return exact::exp(-kMost);
  std::uintmax_t steps = 200;
  const boost::math::tools::eps_tolerance<double> near(45);  // bits
  return exact::exp(-boost::math::tools::toms748_solve(above, 0.0, kMost, near, steps).first);
}

}  // namespace

Estimate estimate(const std::vector<double>& seeds,
                  const std::vector<double>& resampled,
                  Index units) {
  Estimate of{.value = over_seeds(seeds).mean};
  const auto count = static_cast<double>(seeds.size());
  std::vector<double> draws = resampled;
  std::erase_if(draws, [](double x) { return !std::isfinite(x); });
  const bool drawn = 2 * draws.size() > resampled.size();
  if (!std::isfinite(of.value)) return {};
  if ((units > 0 && !drawn) || (units == 0 && seeds.size() < 2)) return of;
  const double of_seeds = variance_of(seeds) / count, of_sentences = drawn ? variance_of(draws) : 0;
  const double variance = of_seeds + of_sentences;
  if (!std::isfinite(variance)) return of;
  of.error = std::sqrt(variance);
  if (variance == 0) {  // neither seeds nor sentences vary
    of.interval = {of.value, of.value};
    if (seeds.size() > 1) of.p = of.value == 0 ? 1 : 0;
    return of;
  }
  const Part among_seeds{of_seeds, count - 1},
      among_sentences{of_sentences, static_cast<double>(units) - 1};
  const double half = half_width(among_seeds, among_sentences, kLevel);
  of.interval = {of.value - half, of.value + half};
  if (seeds.size() > 1) of.p = level_of(of.value, among_seeds, among_sentences);
  return of;
}

Estimate score_estimate(const Metric& metric,
                        const SystemResults& system,
                        const BootstrapOptions& options) {
  const auto draws =
      on_draws({system}, 1, options, [&](std::size_t, const std::vector<SystemResults>& drawn) {
        return score(metric, drawn[0]);
      });
  return estimate(values_of(metric, system), draws[0], units_of(system));
}

std::vector<Estimate> differences(const std::vector<const Metric*>& metrics,
                                  const SystemResults& baseline,
                                  const SystemResults& system,
                                  const BootstrapOptions& options) {
  check(baseline, system);
  const auto draws = on_draws({baseline, system},
                              metrics.size(),
                              options,
                              [&](std::size_t m, const std::vector<SystemResults>& drawn) {
                                return score(*metrics[m], drawn[1]) - score(*metrics[m], drawn[0]);
                              });
  std::vector<Estimate> all;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    std::vector<double> seeds = values_of(*metrics[m], system);
    const std::vector<double> others = values_of(*metrics[m], baseline);
    for (std::size_t s = 0; s < seeds.size(); ++s) seeds[s] -= others[s];
    all.push_back(estimate(seeds, draws[m], units_of(baseline)));
  }
  return all;
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
