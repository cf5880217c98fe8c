// What the program can time, besides kernels. Each mode prints one JSON object a line: a
// measurement for every line it reads from standard input (so that a script can take turns with
// other programs), or one where nobody sends lines, and a summary at the end.
#pragma once

#include <unistd.h>

#include <functional>
#include <iostream>
#include <string>

#include "framework/base/workers.hpp"
#include "framework/kernels/gemm.hpp"
#include "tests/bench/workload.hpp"

namespace softalign::bench {

struct Request {
  Workload workload;
  int threads = 2;
  double seconds = 1;  // of every measurement, at least one round
  bool attention = true;
  Index beam = 1;                            // decoding only
  Precision precision = Precision::float32;  // training only
  bool products = false;                     // training only: list the products instead
};

inline void take_turns(const std::function<void()>& measure) {
  bool measured = false;
  if (!isatty(STDIN_FILENO))
    for (std::string line; std::getline(std::cin, line); measured = true) measure();
  if (!measured) measure();
}

void time_training(const Request& request);  // a training step, and its products alone
void time_scaling(const Request& request);   // a step as it would be on more threads
void time_exchange(Index numbers);           // between the ranks of mpirun
void time_decoding(const Request& request);  // a batch of sentences to a fixed number of symbols

// Fused multiply-adds in registers, on all workers at once and with the instructions of the products
// in use: what the processor can do at most, now. Takes tens of milliseconds.
double peak_gflops(Workers& workers);

}  // namespace softalign::bench
