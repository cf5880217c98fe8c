#include "framework/app/models/kept_alignments.hpp"

#include <fmt/ranges.h>

#include <filesystem>

#include "framework/record/published/alignment_record.hpp"

namespace softalign::app {
namespace {

bool holds_alignments(const std::filesystem::path& file) {
  try {
    return is_alignment_record(file);
  } catch (const DataError&) {
    return false;  // no HDF5, or damaged: not known to be ours
  }
}

}  // namespace

void KeptAlignments::add_to(CLI::App& command, OutputFile& file) {
  file.add_to(
      command, "--alignments", "write the words and the alignment matrices into this HDF5 file");
}

KeptAlignments::KeptAlignments(const OutputFile& file, const TrainedRuns& runs)
    : file_(file.path), runs_(runs) {
  if (!file_.empty() && !runs.scorer.aligns())
    throw SpecError("--alignments: this run's model has no attention, so there are none");
  file.check(holds_alignments);
}

void KeptAlignments::keep(Index line,
                          Index rank,
                          std::span<const Token> source,
                          const Hypothesis& hypothesis) {
  if (file_.empty()) return;
  const TrainedRun& run = runs_.first();
  std::vector<Alignment> found = recorded_alignments(
      {rank == 0 ? "cross" : fmt::format("cross_{}", rank + 1), run.record.last_update(), line, 0},
      {*run.source, source, *run.target, hypothesis.tokens},
      matrix_of(hypothesis));
  const std::lock_guard lock(mutex_);
  std::move(found.begin(), found.end(), std::back_inserter(alignments_));
}

void KeptAlignments::write() {
  if (file_.empty()) return;
  write_alignment_record(FileSystem::real(),
                         file_,
                         fmt::format("{}", fmt::join(runs_.ids(), " ")),
                         std::move(alignments_));
}

}  // namespace softalign::app
