#include "framework/analysis/significance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/workers.hpp"

namespace softalign {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kSeed = 1;

struct Pair {
  SystemResults baseline, system;
};

// Scores of both systems on every draw.
struct Scores {
  std::vector<double> baseline, system;  // [draws]
};

// Draws `count` test sets, numbered from 1; redraw(given, k, drawn) fills the k-th.
template <class Redraw>
std::vector<Scores> scores_of_draws(const std::vector<const Metric*>& metrics,
                                    const Pair& given,
                                    Index count,
                                    Workers& workers,
                                    const Redraw& redraw) {
  const Scores empty{std::vector<double>(static_cast<std::size_t>(count)),
                     std::vector<double>(static_cast<std::size_t>(count))};
  std::vector<Scores> scores(metrics.size(), empty);
  constexpr Index kTogether = 100;  // draws that share their memory
  workers.run((count + kTogether - 1) / kTogether, [&](Index piece) {
    Pair drawn = given;
    for (Index k = piece * kTogether; k < std::min(count, (piece + 1) * kTogether); ++k) {
      redraw(given, k + 1, drawn);
      for (std::size_t m = 0; m < metrics.size(); ++m) {
        scores[m].baseline[static_cast<std::size_t>(k)] = score(*metrics[m], drawn.baseline);
        scores[m].system[static_cast<std::size_t>(k)] = score(*metrics[m], drawn.system);
      }
    }
  });
  return scores;
}

std::vector<double> differences_of(const Scores& scores) {
  std::vector<double> differences;
  for (std::size_t k = 0; k < scores.system.size(); ++k)
    differences.push_back(scores.system[k] - scores.baseline[k]);
  return differences;
}

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return values;
}

double mean_of_defined(const std::vector<double>& values) {
  double sum = 0;
  Index count = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value, ++count;
  return ratio(sum, count);
}

// Exchanges the two systems' results of each sentence, in all seeds at once, or not.
void exchange(const RandomStream& stream, const Pair& given, Index k, Pair& drawn) {
  const std::size_t n = given.baseline.front().size();
  std::uint32_t coins = 0;
  for (std::size_t i = 0; i < n; ++i) {
    coins = i % 32 == 0 ? stream.word(i / 32, static_cast<std::uint64_t>(k)) : coins >> 1;
    const bool swapped = (coins & 1) != 0;
    for (std::size_t s = 0; s < given.baseline.size(); ++s) {
      drawn.baseline[s][i] = (swapped ? given.system : given.baseline)[s][i];
      drawn.system[s][i] = (swapped ? given.baseline : given.system)[s][i];
    }
  }
}

void take(const std::vector<Index>& places, const SystemResults& given, SystemResults& drawn) {
  for (std::size_t s = 0; s < given.size(); ++s)
    for (std::size_t i = 0; i < places.size(); ++i)
      drawn[s][i] = given[s][static_cast<std::size_t>(places[i])];
}

void check(const Pair& pair) {
  const auto same = [&](const auto& results) {
    return results.size() == pair.baseline.front().size();
  };
  if (pair.baseline.empty() || pair.baseline.size() != pair.system.size() ||
      !std::all_of(pair.baseline.begin(), pair.baseline.end(), same) ||
      !std::all_of(pair.system.begin(), pair.system.end(), same))
    throw BugError("a paired test of systems with other seeds or sentences");
}

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
  for (const auto& sentences : system) sum += metric.value(sentences);
  return sum / static_cast<double>(system.size());
}

Interval interval_of(std::vector<double> scores) {
  std::erase_if(scores, [](double x) { return std::isnan(x); });
  if (scores.empty()) return {kUndefined, kUndefined};
  const double mean = mean_of_defined(scores);
  std::sort(scores.begin(), scores.end());
  const std::size_t beyond = scores.size() / 40;  // on each side
  return {mean, (scores[scores.size() - 1 - beyond] - scores[beyond]) / 2};
}

double p_value(const std::vector<double>& draws, double seen) {
  if (std::isnan(seen)) return kUndefined;
  Index extreme = 0, defined = 0;
  for (const double draw : draws) {
    defined += !std::isnan(draw);
    extreme += draw >= seen;
  }
  return static_cast<double>(extreme + 1) / static_cast<double>(defined + 1);
}

std::vector<PairedTest> paired_tests(const std::vector<const Metric*>& metrics,
                                     const SystemResults& baseline,
                                     const SystemResults& system,
                                     const PairedTestOptions& options) {
  const Pair given{baseline, system};
  check(given);
  Workers workers(std::max(1, options.threads));
  const RandomStream coins(kSeed, "approximate randomisation");
  const auto exchanged = scores_of_draws(
      metrics, given, options.trials, workers, [&](const Pair& from, Index k, Pair& drawn) {
        exchange(coins, from, k, drawn);
      });
  const Bootstrap bootstrap("bootstrap", std::ssize(baseline.front()));
  const auto resampled = scores_of_draws(
      metrics, given, options.resamples, workers, [&](const Pair& from, Index k, Pair& drawn) {
        const std::vector<Index> places = bootstrap.draw(k);
        take(places, from.baseline, drawn.baseline);
        take(places, from.system, drawn.system);
      });
  std::vector<PairedTest> tests;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    PairedTest& test = tests.emplace_back();
    test.difference = score(*metrics[m], system) - score(*metrics[m], baseline);
    const double seen = std::abs(test.difference);
    test.baseline = interval_of(resampled[m].baseline);
    test.system = interval_of(resampled[m].system);
    const std::vector<double> differences = differences_of(resampled[m]);
    test.of_difference = interval_of(differences);
    test.p_randomisation = p_value(absolute(differences_of(exchanged[m])), seen);
    std::vector<double> centred = absolute(differences);
    const double mean = mean_of_defined(centred);
    for (double& value : centred) value -= mean;
    test.p_bootstrap = p_value(centred, seen);
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
