// Simulates how a training step scales to more threads than this machine has: one thread computes and times the pieces
// of all threads, and the pieces are then assigned to threads as Workers would. Also times the exchange between ranks.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/base/ranks.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/step.hpp"
#include "tests/bench/modes.hpp"

namespace softalign::bench {
namespace {

constexpr int kSteps = 5;

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// The time from the start of the first piece to the end of the last if each free thread takes the next piece.
double dealt_out(const std::vector<double>& pieces, int threads) {
  std::vector<double> busy(usize(threads));
  for (const double seconds : pieces) *std::ranges::min_element(busy) += seconds;
  return *std::ranges::max_element(busy);
}

struct StepTimes {
  double all = 0, serial = 0,
         parallel = 0;  // seconds: on one thread; outside pieces; in pieces on all threads
  double rounds = 0;    // calls of Workers::run
};

// Times a step on one thread. For each piece, takes the fastest of a few steps.
StepTimes rehearsal(const Request& request, int threads) {
  const Workload& load = request.workload;
  Model model(load.model(request.attention), load.vocabulary, load.vocabulary, 1);
  const Choice adam = parse_spec<TrainOptions>("optimizer: {type: adam}", "bench").spec.optimizer;
  const auto optimizer = make_plugin<OptimizerKind>(adam);
  const std::vector<TrainingStep::Parts> batches = {load.batch(threads)};
  PieceTimes times, fastest;
  Workers workers(threads, times);
  TrainingStep step(model, *optimizer, {.precision = request.precision}, workers);
  StepTimes result;
  for (Index update = 1; update <= kSteps; ++update) {
    times.clear();
    const auto begun = std::chrono::steady_clock::now();
    step.run(batches, update);
    double serial = seconds_since(begun);
    for (const std::vector<double>& pieces : times)
      serial -= std::accumulate(pieces.begin(), pieces.end(), 0.0);
    if (update == 1) continue;  // the first step allocates memory
    result.serial = update == 2 ? serial : std::min(result.serial, serial);
    if (update == 2) fastest = times;
    for (std::size_t i = 0; i < times.size(); ++i)
      for (std::size_t k = 0; k < times[i].size(); ++k)
        fastest[i][k] = std::min(fastest[i][k], times[i][k]);
  }
  result.all = result.serial;
  for (const std::vector<double>& pieces : fastest) {
    result.all += std::accumulate(pieces.begin(), pieces.end(), 0.0);
    result.parallel += dealt_out(pieces, threads);
  }
  result.rounds = static_cast<double>(fastest.size());
  return result;
}

// The overhead of a round of this machine's threads besides its pieces: waking them, and waiting for the last.
double seconds_of_a_round() {
  constexpr int kRounds = 2000;
  constexpr double kPiece = 50e-6;
  Workers workers(resolve_thread_count(0));
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < kRounds; ++i)
    workers.run(workers.threads(), [&](Index) {
      const auto piece = std::chrono::steady_clock::now();
      while (seconds_since(piece) < kPiece) {
      }
    });
  return seconds_since(begun) / kRounds - kPiece;
}

}  // namespace

void time_scaling(const Request& request) {
  const Workload& load = request.workload;
  const Model model(load.model(request.attention), load.vocabulary, load.vocabulary, 1);
  const ParameterStore& store = model.parameters();
  const double round = seconds_of_a_round();
  std::cout << nlohmann::ordered_json{{"configuration", load.name},
                                      {"target_tokens", load.target_tokens()},
                                      {"sentences", load.sentences},
                                      {"dense_numbers", store.dense_size()},
                                      {"trained_numbers", store.trained_size()},
                                      {"round_seconds", round}}
            << std::endl;
  for (int threads = 1; threads <= request.threads; threads *= 2) {
    const StepTimes times = rehearsal(request, threads);
    std::cout << nlohmann::ordered_json{{"threads", threads},
                                        {"one_thread_seconds", times.all},
                                        {"serial_seconds", times.serial},
                                        {"rounds", times.rounds},
                                        {"seconds",
                                         times.serial + times.parallel +
                                             (threads > 1 ? times.rounds * round : 0)}}
              << std::endl;
  }
}

void time_exchange(Index numbers) {
  const std::unique_ptr<Ranks> ranks = mpi_ranks();
  std::vector<real> buffer(usize(numbers)), scratch;
  Bounds bounds;
  for (int i = 0; i <= ranks->count(); ++i) bounds.push_back(numbers * i / ranks->count());
  const auto time = [&](const auto& work) {  // the fastest of 20
    double best = 0;
    for (int i = 0; i < 20; ++i) {
      gather_to_all(*ranks, "ready");
      const auto begun = std::chrono::steady_clock::now();
      work();
      const double seconds = seconds_since(begun);
      if (i == 0 || seconds < best) best = seconds;
    }
    return best;
  };
  const double sum = time([&] { sum_slices(*ranks, buffer, bounds, scratch); }),
               share = time([&] { share_slices(*ranks, buffer, bounds); }),
               gather = time([&] { gather_to_all(*ranks, std::string(100, ' ')); });
  if (ranks->first())
    std::cout << nlohmann::ordered_json{{"ranks", ranks->count()},
                                        {"numbers", numbers},
                                        {"sum_seconds", sum},
                                        {"share_seconds", share},
                                        {"gather_seconds", gather}}
              << std::endl;
}

}  // namespace softalign::bench
