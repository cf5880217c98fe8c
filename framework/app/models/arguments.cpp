#include "framework/app/models/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/app/experiments/load.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"
#include "framework/inference/state.hpp"

namespace softalign::app {
namespace {

// A pattern of a shell may have matched more runs than were meant.
void name_members(const std::vector<TrainedRun>& members) {
  std::string names;
  for (const TrainedRun& run : members)
    names +=
        fmt::format("{}{} {}", names.empty() ? "" : ", ", run.record.name(), run.record.run_id());
  print_note(fmt::format("note: ensemble of {} models: {}", members.size(), names));
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
      fmt::format("{}; with --ensemble also further runs of the same task",
                  searches ? "changes to how it searches: search=beam search.width=10 "
                             "search.length_normalization=0"
                           : "batch=16: sentences side by side"));
  if (searches)
    command.add_option("--search", search, "the same as search=..., as in --search greedy");
  command.add_flag("--ensemble", ensemble, "ask the models of several runs together");
  command
      .add_option(
          "--average", average, "of an ensemble: the mean of probabilities or log-probabilities")
      ->capture_default_str()
      ->check(CLI::IsMember({"probabilities", "log-probabilities"}))
      ->needs("--ensemble");
  command
      .add_option("--state",
                  options.state,
                  "which parameters: best, last or those of an update that has a checkpoint; of a "
                  "run that is not complete, best unless another is asked for")
      ->type_name("best|last|UPDATE")
      ->check(fault_of_state);
  add_record_plugin_option(command, options.plugins);
  add_threads_option(command, options.threads);
  add_size_option(command, options.sizes);
  options.note = print_note;
}

void add_record_plugin_option(CLI::App& command, std::vector<std::string>& plugins) {
  add_plugin_option(command,
                    plugins,
                    "a plugin's .so file, in place of those that the record names, which are never "
                    "loaded by its word; may be repeated");
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
    throw SpecError("{} runs are given; name one, or ask them together with --ensemble",
                    runs.size());
  TrainedOptions how = options;
  how.changes = trained_overrides(texts, measures);
  if (!search.empty() && std::ranges::count(how.changes, "evaluate.search", &Override::path) > 0)
    throw SpecError(
        "--search is the same as search=..., which is given too; leave one of them out");
  if (!search.empty())
    how.changes.insert(how.changes.begin(),
                       parse_override("evaluate.search=" + search, {"--search"}));
  if (average != "probabilities") how.mean = Scorer::Mean::log_probabilities;
  TrainedRuns opened = open_trained(runs, how);
  if (runs.size() > 1) name_members(opened.members);
  return opened;
}

}  // namespace softalign::app
