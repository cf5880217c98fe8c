// The options `--alignments FILE` and `--links FILE` of commands that use models: matrices of hypotheses, and links
// between their words, kept until all are there and written in one step.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "framework/app/terminal/link_options.hpp"
#include "framework/app/terminal/output_file.hpp"
#include "framework/inference/translator.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/train/results.hpp"

namespace softalign::app {

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
  void keep(Index line, Index rank, std::span<const Token> source, const Hypothesis& hypothesis);
  TakeHypothesis take() {
    return [this](Index line, Index rank, std::span<const Token> source, const Hypothesis& one) {
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
