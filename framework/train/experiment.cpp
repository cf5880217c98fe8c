#include "framework/train/experiment.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "framework/config/writer.hpp"
#include "framework/data/file_hash.hpp"
#include "framework/data/lengths.hpp"
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

// "configs/x.yaml:3:7: train.shards: ..." with the place where the option was written.
template <class... Args>
[[noreturn]] void refuse(const ResolvedSpec<Spec>& resolved,
                         const std::string& path,
                         fmt::format_string<Args...> format,
                         Args&&... args) {
  const auto found = resolved.origins.find(path);
  throw SpecError("{}{}: {}",
                  found == resolved.origins.end() ? "" : found->second.str() + ": ",
                  path,
                  fmt::format(format, std::forward<Args>(args)...));
}

// Does `check`; a SpecError of it gets the place of the option that it is about.
void check_at(const ResolvedSpec<Spec>& resolved,
              const std::string& path,
              const std::function<void()>& check) {
  try {
    check();
  } catch (const SpecError& error) {
    const auto found = resolved.origins.find(path);
    if (found == resolved.origins.end()) throw;
    throw SpecError("{}: {}", found->second.str(), error.what());
  }
}

// Does `check`; a SpecError of it that begins with an option, "train.loss: ...", gets the place where
// that was written, unless it has one.
void check_options(const ResolvedSpec<Spec>& resolved, const std::function<void()>& check) {
  try {
    check();
  } catch (const SpecError& error) {
    const std::string_view message = error.what();
    const auto found = resolved.origins.find(std::string(message.substr(0, message.find(": "))));
    if (begins_with_position(message) || found == resolved.origins.end()) throw;
    throw SpecError("{}: {}", found->second.str(), message);
  }
}

void check_dev_metric(const ResolvedSpec<Spec>& resolved,
                      const std::string& path,
                      const std::string& metric) {
  const auto found = resolved.origins.find(path);
  WatchedMetric(path, metric, found == resolved.origins.end() ? Position{} : found->second);
}

int threads_for(const ExperimentOptions& options, Index shards) {
  const int machine = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return options.threads > 0 ? options.threads : std::min(machine, static_cast<int>(shards));
}

// Throws SpecError where the encoder reads other sources than the task has.
void check_source(const Spec& spec, const Task& task, const Encoder& reader) {
  const Index wanted = reader.image_height(), height = task.image_height();
  const std::string& encoder = spec.model.encoder.type;
  if (wanted == 0 || wanted == height) return;
  if (height == 0)
    throw SpecError(
        "encoder '{}' reads images, and the sources of task '{}' are text; choose "
        "another encoder, or a task such as image_captions",
        encoder,
        spec.task.type);
  throw SpecError(
      "encoder '{}' reads images of height {}, and those of task '{}' have {}; set "
      "model.encoder.height={}",
      encoder,
      wanted,
      spec.task.type,
      height,
      height);
}

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

// Throws SpecError when training itself is to be steered by metrics that cannot be.
void tell_missing_references(const Spec& spec,
                             const Dataset& data,
                             bool prunes,
                             Observer& observer) {
  const bool dev = has_references(data.dev);
  for (const auto& [option, watches] :
       {std::pair("early_stopping", spec.train.early_stopping.has_value()),
        {"average", spec.train.average && spec.train.average->type == "best"},
        {"schedule", spec.train.schedule && spec.train.schedule->type == "plateau"}})
    if (!dev && watches)
      throw SpecError(
          "train.{}: the dev sentences have no references, so there is nothing to watch", option);
  if (!dev && prunes)
    throw SpecError("early termination: the dev sentences have no references to be measured by");
  for (const Split* split : {&data.dev, &data.test})
    if (!has_references(*split))
      observer.message(fmt::format(
          "note: the {} sentences have no references: they are translated and not measured",
          split->name));
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

bool can_name_folder(const std::string& name) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 100 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), legal);
}

void check_spec(const ResolvedSpec<Spec>& resolved) {
  const Spec& spec = resolved.spec;
  if (!can_name_folder(spec.name))
    refuse(resolved,
           "name",
           "'{}' cannot name a folder; use at most 100 letters, digits and . _ -",
           printable(spec.name));
  if (!std::has_single_bit(static_cast<std::uint64_t>(spec.train.shards)))
    refuse(resolved,
           "train.shards",
           "{} is not a power of two; use 1, 2, 4, 8, ...",
           spec.train.shards);
  if (spec.train.early_stopping)
    check_dev_metric(resolved, "train.early_stopping.metric", spec.train.early_stopping->metric);
  if (spec.train.average)
    check_dev_metric(resolved, "train.average.metric", spec.train.average->metric);
  check_at(resolved, "evaluate.lengths", [&] { LengthBuckets{spec.evaluate.lengths}; });
  // Plugins refuse options and company that they cannot work with when they are built.
  const auto task = make_plugin<TaskKind>(spec.task);
  const Symbols symbols = task->most_symbols();
  std::optional<Model> built;
  check_options(resolved, [&] {
    built.emplace(spec.model,
                  std::max<Index>(symbols.source, kSpecials + 1),
                  std::max<Index>(symbols.target, kSpecials + 1));
    check_training(spec.train, *built);
  });
  const Model& model = *built;
  check_at(resolved, "model.encoder.type", [&] { check_source(spec, *task, model.encoder()); });
  make_plugin<OptimizerKind>(spec.train.optimizer);
  if (spec.train.schedule) make_plugin<ScheduleKind>(*spec.train.schedule);
  for (const Choice& choice : {spec.evaluate.search, spec.evaluate.dev_search})
    check_search(*make_plugin<SearchKind>(choice, static_cast<std::uint64_t>(spec.seed)), model);
}

std::string identity_json(const Spec& spec) {
  return canonical_json(spec, kNotIdentity, remembered_hash);
}

namespace {

// For a model that is told which positions belong together.
void require_links(const Spec& spec, const Dataset& data) {
  for (const Split* split : {&data.train, &data.dev, &data.test}) {
    bool any = split->examples.size() == 0;
    for (std::size_t i = 0; i < split->examples.size() && !any; ++i)
      any = split->examples.row(i).links > 0;
    if (!any)
      throw SpecError(
          "attention '{}' reads the known links of every sentence, and the {} sentences of task "
          "'{}' "
          "have none; choose another attention",
          spec.model.attention.type,
          split->name,
          spec.task.type);
  }
}

}  // namespace

std::unique_ptr<Model> make_model(const Spec& spec, const Dataset& data) {
  if (spec.model.tied_embeddings == "all" && data.source != data.target &&
      data.source->serialize() != data.target->serialize())
    throw SpecError(
        "model.tied_embeddings: all needs one vocabulary of both sides, and the source's symbols "
        "are not the target's; share the vocabulary, or use target");
  return std::make_unique<Model>(
      spec.model, data.source->size(), data.target->size(), static_cast<std::uint64_t>(spec.seed));
}

ExperimentOutcome run_experiment(const ResolvedSpec<Spec>& resolved,
                                 const ExperimentOptions& options,
                                 Observer& observer) {
  const Spec& spec = resolved.spec;
  check_spec(resolved);
  const std::string canonical = identity_json(spec);
  ExperimentOutcome outcome;
  const auto complete_already = [&] {
    for (const std::string& plugin : changed_plugins(Record(outcome.folder)))
      observer.message(fmt::format("note: made by {}; --force runs it again", plugin));
    outcome.was_complete = true;
    return outcome;
  };
  outcome.run_id = run_id(identity(canonical));
  outcome.folder = options.results / spec.name / outcome.run_id;
  if (!options.force && end_is_published({outcome.folder})) return complete_already();

  // Everything that the data or the spec can spoil comes before the first file is written.
  const auto task = make_plugin<TaskKind>(spec.task);
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
  tell_missing_references(spec, data, options.pruner != nullptr, observer);
  if (!data.has_links && wants_ibm_model1(spec))
    observer.message(
        "note: evaluate.baselines: ibm_model1 is left out: the test sentences have no word links "
        "to point at");
  check_options(resolved, [&] { check_training(spec.train, data.train); });
  const auto model = make_model(spec, data);
  if (model->reads_links()) require_links(spec, data);
  Workers workers(threads_for(options, spec.train.shards));

  Recorder recorder(options.results,
                    {spec.name, outcome.run_id, resolved_yaml(spec, resolved.origins), canonical},
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
        observer.message("no checkpoint had been saved: beginning again");
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
