#include "framework/app/kept_alignments.hpp"

#include <fmt/ranges.h>

#include <filesystem>

#include "framework/record/alignment_record.hpp"

namespace softalign::app {
namespace {

bool holds_alignments(const std::filesystem::path& file) {
  try {
    return is_alignment_record(file);
  } catch (const DataError&) {
    return false;  // no HDF5, or damaged: not known to be ours
  }
}

void check_place(const std::filesystem::path& file) {
  const auto folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw SpecError("--alignments: there is no folder {}", folder.string());
  if (!std::filesystem::exists(file)) return;
  if (!std::filesystem::is_regular_file(file))
    throw SpecError("--alignments: {} is no regular file", file.string());
  if (!holds_alignments(file))
    throw SpecError(
        "--alignments: {} exists and holds no alignments of softalign translate; choose another "
        "name or remove it",
        file.string());
}

}  // namespace

void KeptAlignments::add_to(CLI::App& command, std::string& file) {
  command.add_option(
      "--alignments", file, "write the words and the alignment matrices into this HDF5 file");
}

KeptAlignments::KeptAlignments(const std::string& file, const TrainedRuns& runs)
    : file_(file), runs_(runs) {
  if (file.empty()) return;
  if (!runs.scorer.aligns())
    throw SpecError("--alignments: this run's model has no attention, so there are none");
  check_place(file);
}

void KeptAlignments::keep(Index line,
                          Index rank,
                          std::span<const Token> source,
                          const Hypothesis& hypothesis) {
  if (file_.empty()) return;
  const TrainedRun& run = runs_.first();
  Alignment alignment{rank == 0 ? "cross" : fmt::format("cross_{}", rank + 1),
                      run.record.last_update(),
                      line,
                      0,
                      source_words(runs_.scorer.aligning(), source, *run.source),
                      words_of(hypothesis.tokens, *run.target, hypothesis.finished),
                      hypothesis.alignment,
                      {}};
  const std::lock_guard lock(mutex_);
  alignments_.push_back(std::move(alignment));
}

void KeptAlignments::write() {
  if (file_.empty()) return;
  write_alignment_record(FileSystem::real(),
                         file_,
                         fmt::format("{}", fmt::join(runs_.ids(), " ")),
                         std::move(alignments_));
}

}  // namespace softalign::app
