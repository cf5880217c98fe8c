// The options of commands that count what a model takes: its symbols and the sentence it reads.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign::app {

struct CountOptions {
  std::vector<Index> symbols;  // of source and target; empty: not given
  std::vector<Index> lengths = {20, 20};
  // symbols_default: what the help says.
  void add_to(CLI::App& command, const char* symbols_default);
  // Throws SpecError where more than two numbers are given.
  void check() const;
};

}  // namespace softalign::app
