// softalign evaluate RUN...: measures a trained model, or several together, again, with another search
// or other buckets if asked to.
#include <fmt/ranges.h>

#include "framework/app/command.hpp"
#include "framework/app/models/recorded_data.hpp"
#include "framework/app/models/trained.hpp"
#include "framework/app/terminal/json.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/writer.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign::app {
namespace {

struct EvaluateArguments {
  TrainedArguments trained;
  std::string split = "test";
  bool json = false;
};

// {"type": "beam", "width": "5"}.
Json search_of(const Spec& spec) {
  constexpr std::string_view kBlock = "evaluate.search.";
  Json json = Json::object();
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (leaf.path.starts_with(kBlock)) json[leaf.path.substr(kBlock.size())] = leaf.value;
  return json;
}

std::string search_text(const Json& search) {
  std::string text;
  for (const auto& [name, value] : search.items())
    text +=
        (text.empty() ? "" : ", ") + (name == "type" ? "" : name + " ") + value.get<std::string>();
  return text;
}

// ", 2 models together (mean of probabilities)"; nothing for one.
std::string together(const TrainedRuns& runs, const std::string& average) {
  if (runs.members.size() == 1) return "";
  return fmt::format(", {} models together (mean of {})", runs.members.size(), average);
}

void evaluate(const EvaluateArguments& arguments) {
  const TrainedRuns runs = open_trained(arguments.trained);
  const TrainedRun& run = runs.first();
  const auto search = runs.search();
  const auto [changed, missing] = data_changes(run.record, run.spec());
  if (!changed.empty())
    write_error(fmt::format("note: the data is not what the run read: {} changed\n",
                            fmt::join(changed, ", ")));
  EvaluationSizes sizes(runs, arguments.trained);
  const auto check_sizes = [&](const DataOutline& of) {
    const EvaluateOptions& how = run.spec().evaluate;
    sizes.check({arguments.split == "dev" ? of.dev : of.test, &how.search, how.batch}, of);
  };
  const DataOutline outline = make_plugin<TaskKind>(run.spec().task)->outline();
  if (outline.measured()) check_sizes(outline);
  std::vector<std::string> needed = missing;
  std::erase_if(needed, [&](const std::string& option) {
    return option.starts_with("init.") || option.starts_with("task.train.") ||
           option.starts_with("task.vocabulary.") ||
           option.starts_with(arguments.split == "dev" ? "task.test." : "task.dev.");
  });
  if (needed.empty() && !missing.empty())
    write_error(fmt::format("note: measured without the files of {}, which are not there\n",
                            fmt::join(missing, ", ")));
  ProgressObserver observer(ProgressObserver::Signals::left);
  const Dataset data =
      load_data(run, arguments.split, needed, [&](std::string_view what, Index done, Index total) {
        observer.stage(what, done, total);
      });
  observer.clear();
  if (!outline.measured()) {
    DataOutline read = outline_of(data);
    read.held = false;  // it is counted already
    check_sizes(read);
  }
  const Split& split = arguments.split == "dev" ? data.dev : data.test;
  if (const std::string skipped = skipped_text(split); !skipped.empty())
    write_error(fmt::format("note: {}\n", skipped));
  for (const std::string& note : notes_of(split.texts, texts_of(run.record)))
    write_error(fmt::format("note: {}\n", note));

  Workers workers(threads_or_all(arguments.trained.threads));
  EvaluationRequest request;
  request.search = search.get();
  request.source = run.source.get();
  request.metrics = run.spec().evaluate.measured();
  request.row_aligns = run.spec().evaluate.rows();
  request.batch = run.spec().evaluate.batch;
  request.progress = [&](Index done, Index total) {
    observer.stage("evaluating " + split.name, done, total);
  };
  const EvaluatedSplit result =
      softalign::evaluate(runs.scorer, split, *run.target, request, workers);
  observer.clear();
  const MetricTable table = metrics_of(run.spec(), split, run.source.get(), result.counts);
  const Json searched = search_of(run.spec());
  if (!arguments.json) {
    print_text("{} split{}{}, search: {}{}\n{}\n{}",
               split.name,
               of_lines(split.counts.kept, split.counts.read),
               runs.members.size() > 1 ? " of " + run.record.run_id() : "",
               search_text(searched),
               together(runs, arguments.trained.average),
               metrics_by_length(table, table.metrics),
               signatures(table));
    return;
  }
  Json json = {{"run_id", run.record.run_id()},
               {"split", split.name},
               {"search", searched},
               {"lines", split.counts.read},
               {"changed_data", changed},
               {"missing_data", missing},
               {"metrics", metrics_json(table)}};
  if (run.spec().evaluate.row_aligns) json["row_aligns"] = *run.spec().evaluate.row_aligns;
  if (!run.state.empty()) json["state"] = run.state;
  if (runs.members.size() > 1)
    json["ensemble"] = {{"run_ids", runs.ids()}, {"average", arguments.trained.average}};
  print_json(json);
}

}  // namespace

void add_evaluate(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* command = add_command(app,
                                  "evaluate",
                                  "measure a trained model again, with another search",
                                  "Models",
                                  "softalign evaluate 3f2a search=beam search.width=10");
  arguments->trained.add_to(*command, {"search", "lengths", "row_aligns", "batch"});
  command
      ->add_option("--split",
                   arguments->split,
                   "dev or test; it is read where the run read it, or where changes as "
                   "task.test.source=FILE say; the training text is not needed")
      ->capture_default_str()
      ->check(CLI::IsMember({"dev", "test"}));
  command->add_flag("--json", arguments->json, "print the metrics as JSON");
  command->callback([arguments] { evaluate(*arguments); });
}

}  // namespace softalign::app
