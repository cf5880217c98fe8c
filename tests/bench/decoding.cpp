#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/eval/beam.hpp"
#include "framework/kernels/gemm.hpp"
#include "tests/bench/counters.hpp"
#include "tests/bench/modes.hpp"

namespace softalign::bench {

// Decodes a batch of sentences on each thread. The model is not trained, so </s> is never likely and
// every hypothesis has `target` symbols.
void time_decoding(const Request& request) {
  const Workload& load = request.workload;
  const double before = resident_mib();
  const Model model(load.model(request.attention), load.vocabulary, load.vocabulary, 1);
  const Batch batch = load.batch(1).front();
  const SourceBatch source = batch.source_side();
  Workers workers(request.threads);
  std::vector<std::unique_ptr<Tape>> tapes;
  for (int i = 0; i < request.threads; ++i)
    tapes.push_back(std::make_unique<Tape>(Tape::Mode::infer));

  std::size_t symbols = 0;
  const auto run = [&](Index steps) {
    const BeamSettings settings{request.beam, 1, {1e-9, steps}};
    std::vector<std::size_t> made(tapes.size());
    workers.run(request.threads, [&](Index i) {
      const auto thread = usize(i);
      for (const auto& hypotheses : beam_search(model, *tapes[thread], source, settings))
        made[thread] += hypotheses.front().steps();
    });
    symbols = 0;
    for (std::size_t count : made) symbols += count;
  };
  run(2 * load.target);
  reset_peak_resident();
  const auto calls_of = [&](Index steps) {
    const std::uint64_t start = mallocs();
    run(steps);
    return static_cast<double>(mallocs() - start);
  };
  const double one = calls_of(load.target), two = calls_of(2 * load.target);
  const double memory = peak_resident_mib() - before;
  run(load.target);
  const std::size_t symbols_of_a_run = symbols;

  const auto say = [](const nlohmann::ordered_json& line) { std::cout << line << std::endl; };
  say({{"ready", true}});
  take_turns([&] {
    std::vector<double> seconds;
    for (double spent = 0; spent < request.seconds; spent += seconds.back()) {
      const auto start = std::chrono::steady_clock::now();
      run(load.target);
      seconds.push_back(
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    say({{"seconds", seconds}});
  });
  say({{"configuration", load.name},
       {"implementation", "softalign"},
       {"mode", gemm_variant()},
       {"beam", request.beam},
       {"threads", request.threads},
       {"sentences", load.sentences * request.threads},
       {"symbols", symbols_of_a_run},
       {"peak_memory_mib", memory},
       {"mallocs_per_step", (two - one) / static_cast<double>(load.target * request.threads)}});
}

}  // namespace softalign::bench
