// softalign_bench: times training, decoding, and the kernels below them.
//
//   softalign_bench kernels [--benchmark_filter=REGEX ...]     Google Benchmark
//   softalign_bench train --configuration small --threads 2
//   softalign_bench decode --configuration small --beam 5
//   softalign_bench scale --configuration small --threads 64   simulates more threads than cores
//
// train and decode measure once, or once per line of standard input (modes.hpp).
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/bench/modes.hpp"

using namespace softalign;

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "kernels") {
    --argc;
    ++argv;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  CLI::App app(
      "Times whole training steps and decoding, once or for each line of standard input; prints "
      "JSON. `kernels` times the kernels.");
  bench::Request request;
  std::string configuration = "small";
  app.require_subcommand(1);
  auto* train = app.add_subcommand("train", "training steps beside their matrix products alone");
  auto* scale = app.add_subcommand("scale", "training steps as they would be on up to --threads");
  auto* exchange = app.add_subcommand("exchange", "what ranks exchange; below mpirun");
  Index numbers = 10'000'000;
  exchange->add_option("--numbers", numbers, "parameters")->check(CLI::Range(1, 1 << 30));
  auto* decode = app.add_subcommand("decode", "sentences to a fixed number of target symbols");
  for (CLI::App* mode : {train, scale, decode}) {
    mode->add_option(
        "--configuration", configuration, "small, medium, long, paper, luong, transformer or tiny");
    mode->add_option("--threads", request.threads)->check(CLI::Range(1, 1024));
    mode->add_option("--seconds", request.seconds, "of a measurement")->check(CLI::PositiveNumber);
    mode->add_option(
        "--source", request.workload.source, "source steps, instead of the configuration's");
    mode->add_option("--target", request.workload.target, "target steps, likewise");
    mode->add_flag("!--no-attention", request.attention, "vanilla sequence to sequence");
  }
  train->add_flag_callback(
      "--bfloat16", [&] { request.precision = Precision::bfloat16; }, "products of bfloat16");
  train->add_flag("--products", request.products, "how fast the products are, by shape");
  decode->add_option("--beam", request.beam, "1: greedy")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try {
    if (exchange->parsed()) {
      bench::time_exchange(numbers);
      return 0;
    }
    const bench::Workload lengths = request.workload;
    request.workload = bench::workload(configuration);
    if (lengths.source > 0) request.workload.source = lengths.source;
    if (lengths.target > 0) request.workload.target = lengths.target;
    train->parsed()   ? bench::time_training(request)
    : scale->parsed() ? bench::time_scaling(request)
                      : bench::time_decoding(request);
  } catch (const std::exception& error) {
    std::cerr << "softalign_bench: " << error.what() << '\n';
    return 1;
  }
}
