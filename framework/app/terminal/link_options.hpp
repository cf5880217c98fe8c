// How a command that writes alignments as links reads their matrices.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "framework/eval/word_links.hpp"

namespace softalign::app {

struct LinkOptions {
  std::optional<float> threshold;
  std::string row_aligns;  // empty: as the run counts

  void add_to(CLI::App& command);
  LinkRule rule(RowAligns of_run) const;
};

}  // namespace softalign::app
