// The options of commands that use trained models, and the alignment files that they write: matrices of hypotheses
// and links between words, collected and written in one step at the end.
#pragma once

#include <CLI/CLI.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/inference/trained.hpp"
#include "framework/inference/translator.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/train/results.hpp"

namespace softalign::app {

struct TrainedArguments {
  RunArgument run;
  std::vector<std::string> more;  // further runs, and overrides (KEY=VALUE, ~KEY)
  std::string search;
  bool ensemble = false;
  std::string average = "probabilities";
  std::vector<std::string>
      measures;  // the `evaluate` options that the command uses (trained_overrides)
  TrainedOptions options;

  void add_to(CLI::App& command, std::vector<std::string> used);
  // Prints the members of an ensemble. Throws as open_trained, and SpecError for several runs without `ensemble`.
  TrainedRuns open() const;
};

// Adds `--state`. start: the beginning of its help text.
void add_state_option(CLI::App& command, StateName& state, const std::string& start = "");

// Adds `--plugin` for commands that read a record.
void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins);

// Prints a line "note: ..." on standard error.
void print_note(const std::string& note);

// The options for reading links from alignment matrices.
struct LinkOptions {
  std::optional<float> threshold;
  std::string row_aligns;  // empty: the run's own

  void add_to(CLI::App& command);
  LinkRule rule(RowAligns of_run) const;
};

// The options `--alignments FILE` and `--links FILE`.
struct KeptFiles {
  OutputFile alignments;
  std::string links;
  LinkOptions reading;

  void add_to(CLI::App& command);
};

class KeptAlignments {
 public:
  // Collects only what a file is named for. Throws SpecError for models without attention, and as
  // OutputFile::check does.
  KeptAlignments(const KeptFiles& files, const TrainedRuns& runs);

  // Adds a hypothesis; may be called from any thread. line, rank: from 0. The best hypotheses are the module
  // "cross", others "cross_2", "cross_3" and so on. Links are those of the best.
  void keep(Index line, Index rank, const Example& source, const Hypothesis& hypothesis);
  TakeHypothesis take() {
    return [this](Index line, Index rank, const Example& source, const Hypothesis& one) {
      keep(line, rank, source, one);
    };
  }
  void write(Index lines);  // called once, at the end; writes this many lines of links

 private:
  std::string file_;
  OutputFile links_;
  const TrainedRuns& runs_;
  LinkRule rule_;
  std::mutex mutex_;
  std::vector<Alignment> alignments_;  // in any order: they are sorted when written
  std::vector<std::string> lines_;     // of links
};

}  // namespace softalign::app
