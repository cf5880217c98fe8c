#include "framework/train/experiment.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "framework/base/hash.hpp"
#include "framework/base/process.hpp"
#include "framework/base/stored.hpp"
#include "framework/config/plugin_loader.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "framework/config/yaml.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/task.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/record/published/publish.hpp"
#include "framework/train/evaluation.hpp"
#include "framework/train/followers.hpp"
#include "framework/train/results.hpp"
#include "framework/train/starting_point.hpp"
#include "framework/train/text_results.hpp"
#include "framework/train/trainer.hpp"

namespace softalign {
namespace {

KeptCheckpoints kept_checkpoints(const RecordOptions& options) {
  const std::string keep = options.keep;
  return keep == "none"   ? KeptCheckpoints::none
         : keep == "best" ? KeptCheckpoints::best
         : keep == "all"  ? KeptCheckpoints::all
                          : KeptCheckpoints::last;
}

// Returns a note for each of the options tags, notes and record.keep that differs from the record of a complete run,
// which is not rewritten.
std::vector<std::string> not_taken_over(const ResolvedSpec<Spec>& resolved, const Record& record) {
  const Value recorded = parse_yaml(record.spec_yaml(), record.file().string());
  std::vector<std::string> found;
  for (const OptionLeaf& leaf : option_leaves(resolved.spec)) {
    if (leaf.path != "tags" && leaf.path != "notes" && leaf.path != "record.keep") continue;
    const Value* there = &recorded;
    for (std::string rest = leaf.path; there && !rest.empty();) {
      const std::size_t dot = std::min(rest.find('.'), rest.size());
      const Value::Entry* const entry = there->find(rest.substr(0, dot));
      there = entry ? &entry->value : nullptr;
      rest.erase(0, dot + 1);
    }
    if (there && resolved.origins.contains(leaf.path) &&
        there->flow() != parse_flow(leaf.value, {}).flow())
      found.push_back(fmt::format("{} is {} there, but {} in the spec",
                                  leaf.path,
                                  printable(there->flow()),
                                  printable(leaf.value)));
  }
  return found;
}

// The spec as stored in the run's folder and in its record.
std::string yaml_in(const std::filesystem::path& folder, ResolvedSpec<Spec> resolved) {
  for (std::string& plugin : resolved.spec.plugins) plugin = relative_path(plugin, folder);
  OptionNode root = values_of(resolved.spec);
  make_relative(root, resolved.origins, folder);
  return resolved_yaml(root, resolved.origins);
}

// The parts of a run that has been opened, and its observer.
struct Run {
  const Spec& spec;
  const Dataset& data;
  Model& model;
  Recorder& recorder;
  Workers& workers;
  Observer& observer;

  // Records the facts that are known before training: sizes, counts, vocabularies, images.
  void record_setting() const {
    for (const Split* split : {&data.train, &data.dev, &data.test}) {
      const SplitCounts& c = split->counts;
      recorder.attributes("data/" + split->name,
                          {{"read", c.read},
                           {"kept", c.kept},
                           {"dropped_too_long", c.dropped_too_long},
                           {"dropped_empty", c.dropped_empty},
                           {"truncated", c.truncated}});
    }
    record_texts(recorder, data);
    for (const std::string& note : data_notes(data)) observer.message(note);
    if (data.source) recorder.text("data", "source_vocabulary", data.source->serialize());
    recorder.text("data", "target_vocabulary", data.target->serialize());
    JsonObject sizes;
    if (data.source) sizes["source_symbols"] = data.source->size();
    if (data.frames()) sizes.update(stored(data.frames()));
    if (const FrameStatistics& statistics = data.statistics) {
      const std::vector<Dimension> numbers = {{"number", data.frames().size}};
      recorder.array("data",
                     "frame_mean",
                     numbers,
                     statistics.mean,
                     {{"long_name", "mean over the training frames; subtracted from each frame"}});
      recorder.array("data",
                     "frame_deviation",
                     numbers,
                     statistics.deviation,
                     {{"long_name", "standard deviation, or 1; each frame is divided by it"}});
    }
    sizes["target_symbols"] = data.target->size();
    recorder.attributes("data", sizes);
    recorder.attributes("provenance", {{"gemm", gemm_variant()}, {"plugins", plugins_json()}});
    recorder.attributes("", {{"parameters", model.parameters().count()}});
    record_images(recorder, spec, data, model);
  }

  // Warns if the run was started with other plugins, because it resumes with those that are loaded now.
  void note_changed_plugins() const {
    for (const std::string& plugin : changed_plugins(read_history(recorder.folder()))) {
      const std::string note = "begun by " + plugin;
      recorder.event(note);
      observer.message("WARNING: " + note + "; --force restarts it");
    }
  }

  void record_parameters() const {
    for (const Parameter& parameter : model.parameters().all()) {
      std::vector<Index> shape;
      for (int axis = 0; axis < parameter.shape.rank(); ++axis)
        shape.push_back(parameter.shape[axis]);
      const View value = parameter.value();
      const std::vector<float> numbers(value.begin(), value.end());
      recorder.parameter(parameter.name, shape, numbers);
    }
  }

  // update: the update at which the parameters were selected.
  MetricTable test(Index update, Leader& leader) const {
    Evaluation evaluation(EvaluatedSentences::test, spec, data, leader.ranks());
    leader.calls_for(EvaluatedSentences::test, model);
    const EvaluatedSplit result = evaluation.run(model, workers, observer);
    const ResultRecorder record(recorder, model, data, data.test, update);
    MetricTable table = record.test(spec, result);
    record.alignments("cross", result);
    record.heads("cross", result);
    record.self_attention(result);
    record.decoder_self_attention(result);
    record.searched_alignments("cross_search", result);
    const Diagnostics diagnostics(spec, model, recorder, workers, observer);
    for (const Split* split : {&data.train, &data.dev, &data.test})
      diagnostics.look(Moment::end, *split, update);
    return table;
  }
};

// The parts of a run that must exist before its first file is written.
struct Prepared {
  Dataset data;
  std::unique_ptr<Model> model;
  std::unique_ptr<Workers> workers;
};

// Throws every exception that the data, the spec or a plugin can cause.
Prepared prepare(const ResolvedSpec<Spec>& resolved,
                 const ExperimentOptions& options,
                 Observer& observer) {
  const Spec& spec = resolved.spec;
  check_metrics();
  const auto task = make_plugin<TaskKind>(spec.task);
  const int threads = threads_of_run(options.threads, spec);
  const DataOutline outline = task->outline();
  SizeCheck sizes = options.sizes;
  if (options.ranks) sizes.ranks = options.ranks->count();
  const auto check_memory = [&](const DataOutline& data) {
    if (const std::string note = check_run_sizes(resolved, data, threads, sizes); !note.empty())
      observer.message(note);
  };
  check_memory(outline);
  const auto stop_before_start = [&] {
    if (observer.stop_requested())
      throw Interrupted("interrupted before training began; run the same command again");
  };
  Prepared made;
  made.data = task->load(static_cast<std::uint64_t>(spec.seed),
                         [&](std::string_view what, Index done, Index total) {
                           stop_before_start();
                           observer.stage(what, done, total);
                         });
  const Dataset& data = made.data;
  for (const std::string& note : data.notes) observer.message(note);
  stop_before_start();
  if (!data.has_links && spec.evaluate.wants_ibm_model1())
    observer.message(
        "note: evaluate.baselines: ibm_model1 is skipped: the test sentences have no word links");
  std::vector<std::string> beginnings;
  check_options(resolved, [&] { made.model = make_model(spec, data, &beginnings); });
  for (const std::string& note : beginnings) observer.message(note);
  for (const std::string& note : check_data(resolved, data, *made.model, options.pruner != nullptr))
    observer.message(note);
  made.workers = std::make_unique<Workers>(threads);
  if (!outline.measured()) {
    DataOutline known = outline_of(data, spec);
    if (data.subword_dropout > 0) {
      known.train = outline_of(
          resegmented(data, static_cast<std::uint64_t>(spec.seed), 0, *made.workers, [&] {
            return observer.stop_requested();
          }));
      known.held = true;
    }
    check_memory(known);
  }
  return made;
}

void check_ranks(int ranks, Index groups) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    throw SpecError("{} ranks; their number must be a power of two", ranks);
  if (ranks > groups)
    throw SpecError(
        "{} ranks, but train.groups is {}; start at most as many ranks as groups", ranks, groups);
}

// Runs a rank other than the first. If preparation fails here, it fails on the first rank, too, which reports it.
void serve(const ResolvedSpec<Spec>& resolved,
           const ExperimentOptions& options,
           Observer& observer) {
  std::optional<Prepared> prepared;
  std::exception_ptr failure;
  try {
    prepared.emplace(prepare(resolved, options, observer));
  } catch (...) {
    failure = std::current_exception();
  }
  if (prepared)
    follow(resolved.spec, prepared->data, *prepared->model, *prepared->workers, *options.ranks);
  else if (!leader_has_ended(*options.ranks))
    std::rethrow_exception(failure);
}

}  // namespace

int threads_of_run(int asked, const Spec& spec) {
  constexpr Index kFewest = 4;    // sentences of a thread: with fewer, more threads are not faster
  constexpr Index kTypical = 25;  // positions of a sentence
  const Index useful = std::max<Index>(1, most_pairs(spec.train.batch, kTypical) / kFewest);
  return asked > 0 ? asked : static_cast<int>(std::min<Index>(resolve_thread_count(0), useful));
}

std::unique_ptr<Model> make_model(const Spec& spec,
                                  const Dataset& data,
                                  std::vector<std::string>* notes) {
  const InitOptions init = spec.init.value_or(InitOptions{});
  auto model = std::make_unique<Model>(spec.model,
                                       data.source_format(),
                                       data.target_format(),
                                       static_cast<std::uint64_t>(spec.seed),
                                       init.freeze);
  for (std::string& note : warm_start(*model, init, data))
    if (notes != nullptr) notes->push_back(std::move(note));
  return model;
}

ExperimentOutcome run_experiment(const ResolvedSpec<Spec>& resolved,
                                 const ExperimentOptions& options,
                                 Observer& observer) {
  const UsualArithmetic usual;
  const Spec& spec = resolved.spec;
  Ranks& ranks = options.ranks ? *options.ranks : only_rank();
  // A step that other ranks share is always finished, never abandoned.
  const AbandonScope steps(ranks.count() == 1 ? AbandonScope::flag() : nullptr);
  RunPlace place;
  ExperimentOutcome outcome;
  try {
    agree(ranks, [] {
      const BuildInfo& program = build_info();
      std::string text = fmt::format("softalign {}, commit {}, changes {:.8}",
                                     program.version,
                                     program.git_commit,
                                     sha256_hex(program.git_diff));
      for (const LoadedPlugin& plugin : loaded_plugins())
        text += fmt::format(", {} {:.8}", fs::path(plugin.path).filename().string(), plugin.sha256);
      return text;
    });
    agree(ranks, [&] {
      check_spec(resolved);
      check_ranks(ranks.count(), spec.train.groups.value_or(1));
      place = place_of(spec, options.results);
      return "spec and data of run " + place.name.run_id;
    });
  } catch (const Dismissed&) {
    return outcome;
  }
  if (!ranks.first()) {
    serve(resolved, options, observer);
    return outcome;
  }
  Leader leader(ranks);
  outcome.run_id = place.name.run_id;
  outcome.folder = place.folder;
  const auto complete_already = [&] {
    const Record record(outcome.folder);
    for (const std::string& plugin : changed_plugins(record))
      observer.message(fmt::format("note: made by {}; --force runs it again", plugin));
    for (const std::string& option : not_taken_over(resolved, record))
      observer.message(fmt::format(
          "note: the record of a complete run is not changed: {}; --force runs it again", option));
    outcome.was_complete = true;
    return outcome;
  };
  if (!options.force && end_is_published({outcome.folder})) return complete_already();

  const Prepared prepared = prepare(resolved, options, observer);
  const Dataset& data = prepared.data;
  Model& model = *prepared.model;
  Workers& workers = *prepared.workers;

  std::string begins = "resuming";
  const auto begin_with_shorter = [&]() -> std::optional<ResumePoint> {
    if (options.force || options.from_scratch || options.pruner) return std::nullopt;
    std::optional<ShorterRun> shorter = find_shorter_run(
        spec, place, options.elsewhere.empty() ? options.results : options.elsewhere);
    if (!shorter) return std::nullopt;
    begins =
        shorter->run_id == place.name.run_id
            ? fmt::format("reusing the complete run in {},",
                          printable(shorter->folder.string(), kWhole))
            : fmt::format("extending run {}, which differs only in the length of its training,",
                          shorter->run_id);
    return std::move(shorter->beginning);
  };
  Recorder recorder(
      options.results,
      {spec.name, outcome.run_id, yaml_in(place.folder, resolved), place.name.identity_json},
      {options.force,
       options.steal,
       options.proof,
       kept_checkpoints(spec.record),
       options.beginning ? options.beginning : begin_with_shorter});
  for (const std::string& note : recorder.notes()) observer.message(note);
  if (recorder.already_complete()) return complete_already();
  const auto pruner = options.pruner ? options.pruner(outcome.folder) : nullptr;
  const Run run{spec, data, model, recorder, workers, observer};
  Trainer trainer(spec, data, model, recorder, workers, observer, leader, pruner.get());
  try {
    if (recorder.restored()) {
      trainer.restore(*recorder.restored());
      run.note_changed_plugins();
      const std::string note = fmt::format("{} at update {}", begins, trainer.update());
      observer.message(note);
      if (begins != "resuming") recorder.event(note);
    } else {
      if (recorder.folder().journals().size() > 1)
        observer.message(options.force ? "--force: restarting"
                                       : "no usable checkpoint; restarting");
      run.record_setting();
    }
    trainer.run();
    if (pruner) recorder.text("provenance", "early_termination", pruner->decisions());
    if (trainer.pruned()) {
      const std::string note =
          fmt::format("pruned at update {}: {}", trainer.update(), *trainer.pruned());
      recorder.event(note);
      observer.message(note);
      recorder.end(RunState::pruned);
      outcome.pruned = true;
      return outcome;
    }
    recorder.trained();
    try {
      outcome.test = run.test(trainer.best_update(), leader);
      run.record_parameters();
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      observer.message(
          "the run is trained and saved, but its test failed: the same command tests it");
      throw;
    }
    recorder.end(RunState::complete);
  } catch (const Interrupted& interrupted) {
    recorder.end(RunState::interrupted);
    throw Interrupted("{}; the state is saved, run the same command again to resume",
                      interrupted.what());
  }
  if (recorder.drift())
    observer.message("WARNING: the resumed run is not bit-identical: " + *recorder.drift());
  return outcome;
}

}  // namespace softalign
