// The option `--alignments FILE` of commands that use models: matrices of hypotheses, kept until all
// are there and written in one step.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "framework/app/models/trained.hpp"
#include "framework/app/terminal/output_file.hpp"
#include "framework/record/journal/frames.hpp"
#include "framework/train/results.hpp"

namespace softalign::app {

class KeptAlignments {
 public:
  static void add_to(CLI::App& command, OutputFile& file);

  // Keeps nothing when no file is named. Throws SpecError for models without attention, and as
  // OutputFile::check does.
  KeptAlignments(const OutputFile& file, const TrainedRuns& runs);

  // From any thread. line, rank: of the hypothesis, from 0; the best are the module "cross", others
  // "cross_2", "cross_3" and so on.
  void keep(Index line, Index rank, std::span<const Token> source, const Hypothesis& hypothesis);
  void write();  // once, at the end

 private:
  std::string file_;
  const TrainedRuns& runs_;
  std::mutex mutex_;
  std::vector<Alignment> alignments_;  // in any order: the file sorts them
};

}  // namespace softalign::app
