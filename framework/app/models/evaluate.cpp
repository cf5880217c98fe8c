// softalign evaluate RUN...: evaluates a trained model or an ensemble again, optionally with another search or other
// length buckets.
#include "framework/inference/evaluate_run.hpp"

#include <nlohmann/json.hpp>

#include "framework/app/command.hpp"
#include "framework/app/models/arguments.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/text.hpp"

namespace softalign::app {

namespace {

struct EvaluateArguments {
  TrainedArguments trained;
  std::string split = "test";
  bool json = false;
};

std::string search_text(const Json& search) {
  std::string text;
  for (const auto& [name, value] : search.items())
    text +=
        (text.empty() ? "" : ", ") + (name == "type" ? "" : name + " ") + value.get<std::string>();
  return text;
}

// Returns ", 2 models together (mean of probabilities)"; "" for one model.
std::string together(const TrainedRuns& runs, const std::string& average) {
  if (runs.members.size() == 1) return "";
  return fmt::format(", {} models together (mean of {})", runs.members.size(), average);
}

void evaluate(const EvaluateArguments& arguments) {
  const TrainedRuns runs = arguments.trained.open();
  const TrainedRun& run = runs.first();
  ProgressObserver observer(ProgressObserver::Signals::left);
  const Remeasured result =
      evaluate_run(runs, arguments.split, [&](std::string_view what, Index done, Index total) {
        observer.stage(what, done, total);
      });
  observer.clear();
  if (arguments.json) return print_json(remeasured_json(runs, result));
  print_text("{} split{}{}, search: {}{}\n{}\n{}",
             result.split,
             of_lines(result.counts.kept, result.counts.read),
             runs.members.size() > 1 ? " of " + run.run_id : "",
             search_text(search_json(run.spec())),
             together(runs, arguments.trained.average),
             metrics_by_length(result.table, result.table.metrics),
             signatures(result.table));
}

}  // namespace

void add_evaluate(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command =
      add_command(app,
                  "evaluate",
                  "evaluate a trained model again, for instance with another search",
                  "Models",
                  "softalign evaluate 3f2a search=beam search.width=10");
  arguments->trained.add_to(*command,
                            {"search", "lengths", "row_aligns", "unknown_words", "batch"});
  command
      ->add_option("--split",
                   arguments->split,
                   "dev or test, read from the run's files or from those of task.test.source=FILE; "
                   "the training text is not needed")
      ->capture_default_str()
      ->check(CLI::IsMember({"dev", "test"}));
  command->add_flag("--json", arguments->json, "print the metrics as JSON");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace softalign::app
