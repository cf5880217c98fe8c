#include "framework/app/models/kept_alignments.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/path.hpp"
#include "framework/base/types.hpp"
#include "framework/data/alignment_file.hpp"
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

void KeptFiles::add_to(CLI::App& command) {
  alignments.add_to(
      command, "--alignments", "write the words and the alignment matrices into this HDF5 file");
  command.add_option("--links",
                     links,
                     "write links between words into this file: Pharaoh format, i-j of source and "
                     "target from 0, a line a sentence");
  reading.add_to(command);
  for (const char* option : {"--threshold", "--row-aligns"})
    command.get_option(option)->needs("--links");
}

KeptAlignments::KeptAlignments(const KeptFiles& files, const TrainedRuns& runs)
    : file_(files.alignments.path),
      links_{files.links, files.alignments.force},
      runs_(runs),
      rule_(files.reading.rule(runs.first().spec().evaluate.rows())) {
  for (const auto& [option, path] : {std::pair("--alignments", file_), {"--links", links_.path}})
    if (!path.empty() && !runs.scorer.aligns())
      throw SpecError("{}: this run's model has no attention, so there are none", option);
  if (file_.empty() && links_.path.empty() && links_.force)
    throw SpecError("--force: no file is written; give --alignments or --links, or leave it out");
  if (!file_.empty() && normal_path(file_) == normal_path(links_.path))
    throw SpecError("--alignments and --links name the same file, {}", printable(file_));
  files.alignments.check(holds_alignments);
  links_.check();
  if (!links_.path.empty() && !runs.first().source)
    throw SpecError("--links: the sources are frames, so no words can be linked");
}

void KeptAlignments::keep(Index line,
                          Index rank,
                          std::span<const Token> source,
                          const Hypothesis& hypothesis) {
  const TrainedRun& run = runs_.first();
  std::vector<Alignment> found;
  if (!file_.empty())
    found = recorded_alignments({rank == 0 ? "cross" : fmt::format("cross_{}", rank + 1),
                                 run.record.last_update(),
                                 line,
                                 0},
                                {run.source.get(), source, *run.target, hypothesis.tokens},
                                matrix_of(hypothesis));
  const bool linked = !links_.path.empty() && rank == 0;
  std::string links;
  if (linked)
    links = links_text(links_of(
        *run.source, source, *run.target, hypothesis.tokens, matrix_of(hypothesis), rule_));
  const std::lock_guard lock(mutex_);
  std::move(found.begin(), found.end(), std::back_inserter(alignments_));
  if (!linked) return;
  lines_.resize(std::max(lines_.size(), usize(line + 1)));
  lines_[usize(line)] = std::move(links);
}

void KeptAlignments::write(Index lines) {
  if (!file_.empty())
    write_alignment_record(FileSystem::real(),
                           file_,
                           fmt::format("{}", fmt::join(runs_.ids(), " ")),
                           std::move(alignments_));
  if (links_.path.empty()) return;
  lines_.resize(usize(lines));
  std::string text;
  for (const std::string& line : lines_) text += line + "\n";
  links_.write(text);
}

}  // namespace softalign::app
