#include "framework/app/models/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text_file.hpp"
#include "framework/inference/trained.hpp"
#include "framework/record/published/alignments.hpp"

namespace softalign::app {
namespace {

// Prints the members, because a shell pattern may match more runs than intended.
void name_members(const std::vector<TrainedRun>& members) {
  std::string names;
  for (const TrainedRun& run : members)
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", run.name, run.run_id);
  print_note(fmt::format("note: ensemble of {} models: {}", members.size(), names));
}

bool holds_alignments(const std::filesystem::path& file) {
  try {
    return is_alignment_record(file);
  } catch (const DataError&) {
    return false;  // not HDF5, or corrupt: not known to be ours
  }
}

}  // namespace

void print_note(const std::string& note) { write_error(printable(note, kWhole) + "\n"); }

void TrainedArguments::add_to(CLI::App& command, std::vector<std::string> used) {
  measures = std::move(used);
  const bool searches = std::ranges::find(measures, "search") != measures.end();
  run.add_to(command);
  command.add_option(
      "more",
      more,
      fmt::format(
          "{}; with --ensemble also more runs of the same task",
          searches
              ? "changes of the search: search=beam search.width=10 search.length_normalization=0"
              : "batch=16: number of sentences per batch"));
  if (searches) command.add_option("--search", search, "short for search=...: --search greedy");
  command.add_flag("--ensemble", ensemble, "combine the models of several runs");
  command
      .add_option(
          "--ensemble-mean", average, "average probabilities or log-probabilities of an ensemble")
      ->capture_default_str()
      ->check(CLI::IsMember({"probabilities", "log-probabilities"}))
      ->needs("--ensemble");
  add_state_option(command, options.state);
  add_record_plugin_option(command, options.plugins);
  add_threads_option(command, options.threads);
  add_size_option(command, options.sizes);
  options.note = print_note;
}

void add_state_option(CLI::App& command, StateName& state, const std::string& start) {
  command
      .add_option("--state",
                  state,
                  start +
                      "parameters to use: best, last, those of the checkpoint at an UPDATE, or the "
                      "mean of checkpoints: average:5 (the 5 newest) or average:400,800 (these "
                      "updates); default of an incomplete run: best")
      ->type_name("best|last|UPDATE|average:N")
      ->check(fault_of_state);
}

void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins) {
  add_plugin_option(command,
                    plugins,
                    "load this plugin (.so); plugins that a record names are never loaded by "
                    "themselves; may be repeated");
}

TrainedRuns TrainedArguments::open() const {
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> runs = {find_run(run)};
  for (const std::string& text : more)
    if (is_override(text))
      texts.push_back(text);
    else
      runs.push_back(find_run({text, run.results}));
  if (runs.size() > 1 && !ensemble)
    throw SpecError("{} runs are given; name one, or combine them with --ensemble", runs.size());
  TrainedOptions how = options;
  how.changes = trained_overrides(texts, measures);
  if (!search.empty() && std::ranges::count(how.changes, "evaluate.search", &Override::path) > 0)
    throw SpecError("--search and search=... set the same option; give only one of them");
  if (!search.empty())
    how.changes.insert(how.changes.begin(),
                       parse_override("evaluate.search=" + search, {"--search"}));
  if (average != "probabilities") how.mean = Scorer::Mean::log_probabilities;
  TrainedRuns opened = open_trained(runs, how);
  if (runs.size() > 1) name_members(opened.members);
  return opened;
}

void LinkOptions::add_to(CLI::App& command) {
  command
      .add_option("--threshold",
                  threshold,
                  "links: link where the weight is at least this (default: at the largest weight "
                  "of each target word, including ties)")
      ->check(number(between(0, 1)));
  command
      .add_option("--row-aligns",
                  row_aligns,
                  "links: the target word of a row of weights: the predicted one or the one read "
                  "at that step (default: evaluate.row_aligns of the run)")
      ->check(CLI::IsMember({"predicted", "read"}));
}

LinkRule LinkOptions::rule(RowAligns of_run) const {
  return {row_aligns.empty() ? of_run : row_aligns_of(row_aligns), threshold};
}

void KeptFiles::add_to(CLI::App& command) {
  alignments.add_to(
      command, "--alignments", "write words and alignment matrices to this HDF5 file");
  command.add_option(
      "--links",
      links,
      "write links between words to this file in Pharaoh format: i-j of source and target, from "
      "0, one line per sentence");
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
      throw SpecError("{}: the model of this run has no attention", option);
  if (file_.empty() && links_.path.empty() && links_.force)
    throw SpecError("--force: no file is written; add --alignments or --links, or omit it");
  if (!file_.empty() && normal_path(file_) == normal_path(links_.path))
    throw SpecError("--alignments and --links name the same file, {}", printable(file_));
  files.alignments.check(holds_alignments);
  links_.check();
  if (!links_.path.empty() && !runs.first().source)
    throw SpecError("--links: the sources are frames, not words");
}

void KeptAlignments::keep(Index line,
                          Index rank,
                          const Example& source,
                          const Hypothesis& hypothesis) {
  const TrainedRun& run = runs_.first();
  const bool copies = runs_.scorer.aligning().batch_parts().copies != nullptr;
  const std::string written = hypothesis.replaced.empty()
                                  ? std::string(copies ? source.target_text : "")
                                  : text_of(hypothesis, *run.target);
  std::vector<Alignment> found;
  if (!file_.empty())
    found = recorded_alignments(
        {rank == 0 ? "cross" : fmt::format("cross_{}", rank + 1), run.last_update, line, 0},
        {run.source.get(),
         source.source,
         *run.target,
         hypothesis.tokens,
         {},
         copies ? source.source_text : "",
         written},
        matrix_of(hypothesis));
  const bool linked = !links_.path.empty() && rank == 0;
  std::string links;
  if (linked)
    links = links_text(links_of(
        *run.source, source.source, *run.target, hypothesis.tokens, matrix_of(hypothesis), rule_));
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
