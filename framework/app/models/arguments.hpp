// The options of commands that ask trained models, and the files of alignments that they write: matrices of hypotheses,
// and links between their words, kept until all are there and written in one step.
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
  std::vector<std::string> more;  // further runs, and overrides: what holds a '='
  std::string search;
  bool ensemble = false;
  std::string average = "probabilities";
  std::vector<std::string>
      measures;  // overrides that the command has a use for (trained_overrides)
  TrainedOptions options;

  void add_to(CLI::App& command, std::vector<std::string> used);
  // Throws as the library's open_trained, and SpecError for several runs without `ensemble`. Names the members.
  TrainedRuns open() const;
};

// `--state`. start: of its help.
void add_state_option(CLI::App& command, StateName& state, const std::string& start = "");

// `--plugin` of commands that read a record.
void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins);

// "note: ..." on standard error.
void print_note(const std::string& note);

// How a command that writes alignments as links reads their matrices.
struct LinkOptions {
  std::optional<float> threshold;
  std::string row_aligns;  // empty: as the run counts

  void add_to(CLI::App& command);
  LinkRule rule(RowAligns of_run) const;
};

// `--alignments FILE` and `--links FILE`.
struct KeptFiles {
  OutputFile alignments;
  std::string links;
  LinkOptions reading;

  void add_to(CLI::App& command);
};

class KeptAlignments {
 public:
  // Keeps nothing for what no file is named. Throws SpecError for models without attention, and as
  // OutputFile::check does.
  KeptAlignments(const KeptFiles& files, const TrainedRuns& runs);

  // From any thread. line, rank: of the hypothesis, from 0; the best are the module "cross", others
  // "cross_2", "cross_3" and so on. Links are those of the best.
  void keep(Index line, Index rank, const Example& source, const Hypothesis& hypothesis);
  TakeHypothesis take() {
    return [this](Index line, Index rank, const Example& source, const Hypothesis& one) {
      keep(line, rank, source, one);
    };
  }
  void write(Index lines);  // once, at the end: a line of links for each

 private:
  std::string file_;
  OutputFile links_;
  const TrainedRuns& runs_;
  LinkRule rule_;
  std::mutex mutex_;
  std::vector<Alignment> alignments_;  // in any order: the file sorts them
  std::vector<std::string> lines_;     // of links
};

}  // namespace softalign::app
