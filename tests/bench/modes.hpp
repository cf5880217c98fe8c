// The modes of the program, besides kernels. Each mode prints one JSON object per line: a
// measurement for every line read from standard input (so that a script can take turns with
// other programs), or a single one if there is no input, and a summary at the end.
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
  double seconds = 1;  // length of a measurement, at least one round
  bool attention = true;
  Index beam = 1;                            // decoding only
  Precision precision = Precision::float32;  // training only
  bool products = false;                     // training only: list the matrix products instead
};

inline void take_turns(const std::function<void()>& measure) {
  bool measured = false;
  if (!isatty(STDIN_FILENO))
    for (std::string line; std::getline(std::cin, line); measured = true) measure();
  if (!measured) measure();
}

void time_training(const Request& request);  // a training step, and its matrix products alone
void time_scaling(const Request& request);   // a step as if on more threads
void time_exchange(Index numbers);           // between the ranks of mpirun
void time_decoding(const Request& request);  // a batch of sentences, decoded to a fixed length

// The peak speed of the processor at this moment: fused multiply-adds in registers, on all workers at once,
// with the same vector instructions as the matrix products. Takes tens of milliseconds.
double peak_gflops(Workers& workers);

}  // namespace softalign::bench
