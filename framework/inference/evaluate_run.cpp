#include "framework/inference/evaluate_run.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

#include "framework/base/workers.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/inference/recorded_data.hpp"
#include "framework/train/check_spec.hpp"
#include "framework/train/results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {

Remeasured evaluate_run(const TrainedRuns& runs,
                        const std::string& split_name,
                        const Progress& progress) {
  const TrainedRun& run = runs.first();
  const auto search = runs.search();
  DataChanges changes = data_changes(run.record, run.spec());
  Remeasured measured{split_name, {}, std::move(changes.changed), std::move(changes.missing), {}};
  if (!measured.changed.empty())
    runs.note(fmt::format("note: the data is not what the run read: {} changed",
                          fmt::join(measured.changed, ", ")));
  EvaluationSizes sizes(runs);
  const auto check_sizes = [&](const DataOutline& of) {
    const EvaluateOptions& how = run.spec().evaluate;
    sizes.check({split_name == "dev" ? of.dev : of.test, &how.search, how.batch}, of);
  };
  const DataOutline outline = make_plugin<TaskKind>(run.spec().task)->outline();
  if (outline.measured()) check_sizes(outline);
  std::vector<std::string> needed = measured.missing;
  std::erase_if(needed, [&](const std::string& option) {
    return option.starts_with("init.") || option.starts_with("task.train.") ||
           option.starts_with("task.vocabulary.") ||
           option.starts_with(split_name == "dev" ? "task.test." : "task.dev.");
  });
  if (needed.empty() && !measured.missing.empty())
    runs.note(fmt::format("note: measured without the files of {}, which are not there",
                          fmt::join(measured.missing, ", ")));
  const Dataset data = load_data(run, split_name, needed, progress);
  for (const std::string& note : data.notes) runs.note("note: " + note);
  if (!outline.measured()) {
    DataOutline read = outline_of(data);
    read.held = false;  // it is counted already
    check_sizes(read);
  }
  const Split& split = split_name == "dev" ? data.dev : data.test;
  if (const std::string skipped = skipped_text(split); !skipped.empty())
    runs.note("note: " + skipped);
  for (const std::string& note : notes_of(split.texts, texts_of(run.record)))
    runs.note("note: " + note);

  Workers workers(resolve_thread_count(runs.options.threads));
  EvaluationRequest request;
  request.search = search.get();
  request.source = run.source.get();
  request.metrics = run.spec().evaluate.measured();
  request.row_aligns = run.spec().evaluate.rows();
  request.batch = run.spec().evaluate.batch;
  if (progress)
    request.progress = [&](Index done, Index total) {
      progress("evaluating " + split.name, done, total);
    };
  const EvaluatedSplit result = evaluate(runs.scorer, split, *run.target, request, workers);
  measured.counts = split.counts;
  measured.table = metrics_of(run.spec(), split, run.source.get(), result.counts);
  return measured;
}

JsonObject search_json(const Spec& spec) {
  constexpr std::string_view kBlock = "evaluate.search.";
  JsonObject json = JsonObject::object();
  for (const OptionLeaf& leaf : option_leaves(spec))
    if (leaf.path.starts_with(kBlock)) json[leaf.path.substr(kBlock.size())] = leaf.value;
  return json;
}

JsonObject remeasured_json(const TrainedRuns& runs, const Remeasured& result) {
  const TrainedRun& run = runs.first();
  JsonObject json = {{"run_id", run.record.run_id()},
                     {"split", result.split},
                     {"search", search_json(run.spec())},
                     {"lines", result.counts.read},
                     {"changed_data", result.changed},
                     {"missing_data", result.missing},
                     {"metrics", metrics_json(result.table)}};
  if (run.spec().evaluate.row_aligns) json["row_aligns"] = *run.spec().evaluate.row_aligns;
  if (!run.state.empty()) json["state"] = run.state;
  if (runs.members.size() > 1)
    json["ensemble"] = {
        {"run_ids", runs.ids()},
        {"average",
         runs.options.mean == Scorer::Mean::probabilities ? "probabilities" : "log-probabilities"}};
  return json;
}

}  // namespace softalign
