#include "framework/train/experiment.hpp"

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "framework/config/writer.hpp"
#include "framework/data/file_hash.hpp"
#include "framework/data/task.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/plugins.hpp"
#include "framework/record/publish.hpp"
#include "framework/train/image_results.hpp"
#include "framework/train/results.hpp"
#include "framework/train/trainer.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

Json counts_of(const Split& split) {
  const SplitCounts& c = split.counts;
  return {{"read", c.read},
          {"kept", c.kept},
          {"dropped_too_long", c.dropped_too_long},
          {"dropped_empty", c.dropped_empty},
          {"truncated", c.truncated}};
}

// What is known before training: sizes, counts, vocabularies.
void record_setting(Recorder& recorder,
                    const Dataset& data,
                    const Model& model,
                    Observer& observer) {
  for (const Split* split : {&data.train, &data.dev, &data.test}) {
    recorder.attributes("data/" + split->name, counts_of(*split).dump());
    const SplitCounts& c = split->counts;
    if (c.dropped_too_long + c.dropped_empty + c.truncated > 0)
      observer.message(fmt::format("{}: {} of {} pairs kept, {} too long, {} empty, {} truncated",
                                   split->name,
                                   c.kept,
                                   c.read,
                                   c.dropped_too_long,
                                   c.dropped_empty,
                                   c.truncated));
  }
  recorder.text("data", "source_vocabulary", data.source->serialize());
  recorder.text("data", "target_vocabulary", data.target->serialize());
  recorder.attributes(
      "data",
      Json{{"source_symbols", data.source->size()}, {"target_symbols", data.target->size()}}
          .dump());
  recorder.attributes("provenance",
                      Json{{"gemm", gemm_variant()}, {"plugins", plugins_json()}}.dump());
  recorder.attributes("", Json{{"parameters", model.parameters().count()}}.dump());
}

// The run goes on with the plugins that are loaded now, whatever it was begun with.
void tell_changed_plugins(Recorder& recorder, Observer& observer) {
  for (const std::string& plugin : changed_plugins(read_history(recorder.folder()))) {
    const std::string note = "begun by " + plugin;
    recorder.event(note);
    observer.message("WARNING: " + note + "; --force begins again");
  }
}

void record_parameters(Recorder& recorder, const Model& model) {
  for (const Parameter& parameter : model.parameters().all()) {
    std::vector<Index> shape;
    for (int axis = 0; axis < parameter.shape.rank(); ++axis)
      shape.push_back(parameter.shape[axis]);
    const View value = parameter.value();
    const std::vector<float> numbers(value.begin(), value.end());
    recorder.parameter(parameter.name, shape, numbers);
  }
}

bool wants_ibm_model1(const Spec& spec) {
  const auto& baselines = spec.evaluate.baselines;
  return std::find(baselines.begin(), baselines.end(), "ibm_model1") != baselines.end();
}

MetricTable evaluate_test(Recorder& recorder,
                          const Spec& spec,
                          const Dataset& data,
                          const Model& model,
                          Index update,
                          Workers& workers,
                          Observer& observer) {
  const auto search =
      make_plugin<SearchKind>(spec.evaluate.search, static_cast<std::uint64_t>(spec.seed));
  EvaluationRequest request;
  request.search = search.get();
  request.batch = spec.evaluate.batch;
  request.keep = spec.record.alignments;
  request.heads = true;
  request.progress = [&](Index done, Index total) { observer.stage("testing", done, total); };
  request.stop = [&] { return observer.stop_requested(); };
  const EvaluatedSplit result = evaluate(model, data.test, *data.target, request, workers);
  MetricTable table = record_test(recorder, spec, data, result, update);
  record_alignments(recorder, model, "cross", update, data.test, data, result.forced);
  record_heads(recorder, model, "cross", update, data.test, data, result);
  record_searched_alignments(recorder, model, "cross_search", update, data.test, data, result);
  if (wants_ibm_model1(spec)) record_ibm_model1(recorder, spec, data);
  return table;
}

}  // namespace

int threads_of_run(int asked, const Spec& spec) {
  const int machine = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return asked > 0 ? asked : std::min(machine, static_cast<int>(spec.train.shards));
}

std::vector<RunName> names_of(const Spec& spec) {
  std::vector<std::string> faults;            // of all files together
  std::map<std::string, std::string> hashes;  // by path
  const auto hash = [&](const InputFile& file) {
    std::string& known = hashes[file.path];
    try {
      if (known.empty()) known = remembered_hash(file);
    } catch (const DataError& error) {
      faults.emplace_back(error.what());
    }
    return known;
  };
  std::vector<RunName> names;
  for (const Hashed which : {Hashed::now, Hashed::before}) {
    std::string json = canonical_json(spec, hash, which);
    if (!faults.empty()) throw DataError("{}", fmt::join(faults, "\n"));
    if (names.empty() || names.front().identity_json != json)
      names.push_back({json, run_id(identity(json))});
  }
  return names;
}

std::string identity_json(const Spec& spec) { return names_of(spec).front().identity_json; }

std::string run_id(const Spec& spec) { return names_of(spec).front().run_id; }

RunPlace place_of(const Spec& spec,
                  const std::filesystem::path& results,
                  const std::string& known) {
  std::vector<RunPlace> places;
  for (RunName& name : names_of(spec)) places.push_back({name, results / spec.name / name.run_id});
  for (const RunPlace& place : places)
    if (place.name.run_id == known) return place;
  for (const RunPlace& place : places)
    if (std::filesystem::exists(place.folder)) return place;
  return places.front();
}

std::unique_ptr<Model> make_model(const Spec& spec, const Dataset& data) {
  return std::make_unique<Model>(
      spec.model, data.source->size(), data.target->size(), static_cast<std::uint64_t>(spec.seed));
}

ExperimentOutcome run_experiment(const ResolvedSpec<Spec>& resolved,
                                 const ExperimentOptions& options,
                                 Observer& observer) {
  const Spec& spec = resolved.spec;
  check_spec(resolved);
  const RunPlace place = place_of(spec, options.results, options.run_id);
  ExperimentOutcome outcome;
  outcome.run_id = place.name.run_id;
  outcome.folder = place.folder;
  const auto complete_already = [&] {
    for (const std::string& plugin : changed_plugins(Record(outcome.folder)))
      observer.message(fmt::format("note: made by {}; --force runs it again", plugin));
    outcome.was_complete = true;
    return outcome;
  };
  if (!options.force && end_is_published({outcome.folder})) return complete_already();

  // Everything that the data or the spec can spoil comes before the first file is written.
  const auto task = make_plugin<TaskKind>(spec.task);
  const int threads = threads_of_run(options.threads, spec);
  const DataOutline outline = task->outline();
  const auto check_memory = [&](const DataOutline& data) {
    if (const std::string note = check_run_sizes(resolved, data, threads, options.sizes);
        !note.empty())
      observer.message(note);
  };
  check_memory(outline);
  const auto stop_before_start = [&] {
    if (observer.stop_requested())
      throw Interrupted("interrupted before training began; run the same command again");
  };
  const Dataset data = task->load(static_cast<std::uint64_t>(spec.seed),
                                  [&](std::string_view what, Index done, Index total) {
                                    stop_before_start();
                                    observer.stage(what, done, total);
                                  });
  for (const std::string& note : data.notes) observer.message(note);
  stop_before_start();
  if (!data.has_links && wants_ibm_model1(spec))
    observer.message(
        "note: evaluate.baselines: ibm_model1 is left out: the test sentences have no word links "
        "to point at");
  std::unique_ptr<Model> model;
  check_options(resolved, [&] { model = make_model(spec, data); });
  for (const std::string& note : check_data(resolved, data, *model, options.pruner != nullptr))
    observer.message(note);
  if (outline.test.examples == 0) check_memory(outline_of(data));  // now it is known
  Workers workers(threads);

  Recorder recorder(
      options.results,
      {spec.name, outcome.run_id, resolved_yaml(spec, resolved.origins), place.name.identity_json},
      {options.force, options.steal, options.proof});
  for (const std::string& note : recorder.notes()) observer.message(note);
  if (recorder.already_complete()) return complete_already();
  const auto pruner = options.pruner ? options.pruner(outcome.folder) : nullptr;
  Trainer trainer(spec, data, *model, recorder, workers, observer, pruner.get());
  try {
    if (recorder.restored()) {
      trainer.restore(*recorder.restored());
      tell_changed_plugins(recorder, observer);
      observer.message(fmt::format("resuming at update {}", trainer.update()));
    } else {
      if (recorder.folder().journals().size() > 1)
        observer.message(options.force ? "--force: beginning again"
                                       : "no checkpoint had been saved: beginning again");
      record_setting(recorder, data, *model, observer);
      record_images(recorder, spec, data, *model);
    }
    trainer.run();
    if (pruner) recorder.text("provenance", "early_termination", pruner->decisions());
    if (trainer.pruned()) {
      recorder.event(fmt::format("pruned at update {}: {}", trainer.update(), *trainer.pruned()));
      observer.message(fmt::format("pruned at update {}: {}", trainer.update(), *trainer.pruned()));
      recorder.end(RunState::pruned);
      outcome.pruned = true;
      return outcome;
    }
    outcome.test =
        evaluate_test(recorder, spec, data, *model, trainer.best_update(), workers, observer);
    record_parameters(recorder, *model);
    recorder.end(RunState::complete);
  } catch (const Interrupted& interrupted) {
    recorder.end(RunState::interrupted);
    throw Interrupted("{}; the state is saved, run the same command again to go on",
                      interrupted.what());
  }
  if (recorder.drift())
    observer.message("WARNING: a resumed run computed other bits than before: " +
                     *recorder.drift());
  return outcome;
}

}  // namespace softalign
