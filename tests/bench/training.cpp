#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/step.hpp"
#include "tests/bench/counters.hpp"
#include "tests/bench/modes.hpp"

namespace softalign::bench {
namespace {

struct Product {
  Operand a, b;
  bool add;
  real* c;
  Index c_stride;

  void compute() const { gemm(a, b, add, c, c_stride); }
  double gigaflops() const {
    return 2e-9 * static_cast<double>(a.matrix.rows * a.matrix.columns) *
           static_cast<double>(b.matrix.columns);
  }
  std::string shape() const {
    return fmt::format("{:>6} x {:>6} x {:>6}{}{}{}",
                       a.matrix.rows,
                       b.matrix.columns,
                       a.matrix.columns,
                       a.packed != nullptr   ? ", A packed"
                       : a.matrix.transposed ? ", A turned"
                                             : "",
                       b.packed != nullptr   ? ", B packed"
                       : b.matrix.transposed ? ", B turned"
                                             : "",
                       add ? ", added" : "");
  }
};
using Products = std::vector<Product>;

// The products that each thread computed: one list per thread, in the order of their first product.
class Observed {
 public:
  void add(const Product& product) {
    thread_local Products* mine = nullptr;
    if (mine == nullptr) {
      std::lock_guard lock(mutex_);
      lists.push_back(std::make_unique<Products>());
      mine = lists.back().get();
    }
    mine->push_back(product);
  }
  std::vector<std::unique_ptr<Products>> lists;

 private:
  std::mutex mutex_;
};
Observed observed;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double gigaflops() {
  double sum = 0;
  for (const auto& list : observed.lists)
    for (const Product& p : *list) sum += p.gigaflops();
  return sum;
}

// Prints the products by shape, the slowest first. Each is timed alone, in its position in the sequence.
void list_products(Workers& workers) {
  struct Sum {
    int count = 0;
    double seconds = 0, gigaflops = 0;
  };
  std::map<std::string, Sum> sums;
  std::mutex mutex;
  double all = 0;
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round)
    workers.run(std::ssize(observed.lists), [&](Index i) {
      std::map<std::string, Sum> mine;
      for (const Product& p : *observed.lists[usize(i)]) {
        Sum& sum = mine[p.shape()];
        sum.count += 1;
        sum.gigaflops += p.gigaflops();
        sum.seconds += seconds_of([&] { p.compute(); });
      }
      std::lock_guard lock(mutex);
      for (const auto& [shape, sum] : mine) {
        sums[shape].count += sum.count;
        sums[shape].gigaflops += sum.gigaflops;
        sums[shape].seconds += sum.seconds;
        all += sum.seconds;
      }
    });
  std::vector<std::pair<std::string, Sum>> rows(sums.begin(), sums.end());
  std::sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return x.second.seconds > y.second.seconds;
  });
  const double peak = peak_gflops(workers) / workers.threads();
  fmt::print(
      "{:>8} {:>8} {:>8} {:>8}  rows x columns x depth; the peak is that of a thread in float32\n",
      "count",
      "time",
      "GF/s",
      "of peak");
  for (const auto& [shape, sum] : rows)
    fmt::print("{:>8} {:>7.1f}% {:>8.1f} {:>7.1f}%  {}\n",
               sum.count / kRounds,
               100 * sum.seconds / all,
               sum.gigaflops / sum.seconds,
               100 * sum.gigaflops / sum.seconds / peak,
               shape);
}

// The number of nonzero attention weights per sentence; each of them needs one energy.
double energies_of_a_sentence(const Model& model, const Batch& batch) {
  Tape tape(Tape::Mode::infer);
  Index count = 0;
  for (Var weights : model.forward(tape, batch, 1).weights)
    for (real weight : weights.value()) count += weight > 0;
  return static_cast<double>(count) / static_cast<double>(batch.rows);
}

}  // namespace

void time_training(const Request& request) {
  const Workload& load = request.workload;
  const double before = resident_mib();
  Model model(load.model(request.attention), load.vocabulary, load.vocabulary, 1);
  Choice choice = parse_spec<TrainOptions>("optimizer: {type: adam}", "bench").spec.optimizer;
  const auto optimizer = make_plugin<OptimizerKind>(choice);
  const std::vector<TrainingStep::Parts> batches = {load.batch(request.threads)};
  Workers workers(request.threads);
  TrainingStep step(model, *optimizer, {.precision = request.precision}, workers);
  const ProductPrecision precision(request.precision);  // also when the products run alone

  Index update = 0;
  const auto run = [&] { step.run(batches, ++update); };
  for (int i = 0; i < 3; ++i) run();
  reset_peak_resident();
  run();
  const double memory = peak_resident_mib() - before;
  // The smallest of a few steps: a thread may still meet its largest product if another thread took its pieces before.
  std::uint64_t mallocs_per_step = mallocs();
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t calls = mallocs();
    run();
    mallocs_per_step = std::min(mallocs_per_step, mallocs() - calls);
  }

  // Records the products of one more step, to repeat them alone: on the step's memory, by the same threads.
  observe_gemm([](const Operand& a, const Operand& b, bool add, real* c, Index c_stride) {
    observed.add({a, b, add, c, c_stride});
  });
  run();
  observe_gemm(nullptr);
  const auto replay = [&] {
    workers.run(std::ssize(observed.lists), [&](Index i) {
      for (const Product& p : *observed.lists[usize(i)]) p.compute();
    });
  };
  replay();
  if (request.products) return list_products(workers);

  const auto say = [](const nlohmann::ordered_json& line) { std::cout << line << std::endl; };
  say({{"ready", true}});
  take_turns([&] {
    std::vector<double> steps, floors;
    for (double spent = 0; spent < request.seconds; spent += steps.back() + floors.back()) {
      steps.push_back(seconds_of(run));
      floors.push_back(seconds_of(replay));
    }
    say({{"seconds", steps}, {"floor_seconds", floors}, {"peak_gflops", peak_gflops(workers)}});
  });
  say({{"configuration", load.name},
       {"implementation", "softalign"},
       {"mode", gemm_variant()},
       {"precision", request.precision == Precision::float32 ? "float32" : "bfloat16"},
       {"threads", request.threads},
       {"target_tokens", load.target_tokens()},
       {"gflop_per_step", gigaflops()},
       {"products",
        std::accumulate(observed.lists.begin(),
                        observed.lists.end(),
                        std::size_t{0},
                        [](std::size_t n, const auto& list) { return n + list->size(); })},
       {"energies_per_sentence", energies_of_a_sentence(model, batches.front().front())},
       {"parameters", model.parameters().count()},
       {"peak_memory_mib", memory},
       {"activation_mib", static_cast<double>(step.peak_bytes()) / (1 << 20)},
       {"mallocs_per_step", mallocs_per_step}});
}

}  // namespace softalign::bench
