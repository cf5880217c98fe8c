// softalign run SPEC [KEY=VALUE..]: trains or resumes an experiment, and writes its record.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "framework/app/command.hpp"
#include "framework/app/terminal/arguments.hpp"
#include "framework/app/terminal/load.hpp"
#include "framework/app/terminal/progress.hpp"
#include "framework/app/terminal/table.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/ranks.hpp"
#include "framework/base/text.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/task.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/study/settings.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/followers.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/starting_point.hpp"
#include "framework/train/stored_results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign::app {
namespace {

// The identity and sizes of a run, determined without running it.
struct Plan {
  std::string run_id;
  std::filesystem::path folder;
  RunStatus status;                         // of an earlier attempt
  std::optional<std::string> goes_on_from;  // "run 3f2a at update 500"
  // Sub-words must be trained first: symbols and parameters are upper bounds, sentences and updates are unknown.
  bool trains_subwords = false;
  Index parameters = 0;
  SourceFormat source = Index{0};
  Index target_symbols = 0;
  Index train = 0, dev = 0, test = 0;  // sentences that are kept
  Index updates_per_epoch = 0;
  bool about = false;  // updates_per_epoch varies between epochs: it is that of the first one
  Index updates = 0;   // unless training stops early
  MemoryEstimate memory;
};

// Reads the data, but does not train sub-words. Throws as run_experiment does for an invalid spec or invalid data.
Plan plan_run(const ResolvedSpec<Spec>& resolved,
              const ExperimentOptions& options,
              const std::filesystem::path& results,
              Observer& observer) {
  const Spec& spec = resolved.spec;
  const auto seed = static_cast<std::uint64_t>(spec.seed);
  check_spec(resolved);
  Plan plan;
  const RunPlace place = place_of(spec, results);
  plan.run_id = place.name.run_id;
  plan.folder = place.folder;
  plan.status = run_status({plan.folder});
  if (plan.status.state == RunState::planned && !options.force && !options.from_scratch)
    if (const auto shorter = find_shorter_run(spec, place, results))
      plan.goes_on_from =
          fmt::format("run {} at update {}",
                      shorter->run_id == plan.run_id ? printable(shorter->folder.string(), kWhole)
                                                     : shorter->run_id,
                      shorter->beginning.state.update);
  const auto task = make_plugin<TaskKind>(spec.task);
  const DataOutline outline = task->outline();
  const int threads = threads_of_run(options.threads, spec);
  check_run_sizes(resolved, outline, threads, options.sizes, &plan.memory);
  plan.trains_subwords = task->has_to_train_subwords();
  if (plan.trains_subwords) {
    plan.source = outline.source();
    plan.target_symbols = outline.target_symbols;
    plan.parameters = Model(spec.model, plan.source, plan.target_symbols).parameters().count();
    return plan;
  }
  const Dataset data = task->load(seed, [&](std::string_view what, Index done, Index total) {
    if (observer.stop_requested()) throw Interrupted("interrupted; nothing was written");
    observer.stage(what, done, total);
  });
  for (const std::string& note : data.notes) observer.message(note);
  for (const std::string& note : data_notes(data)) observer.message(note);
  std::optional<Split> again;
  if (data.subword_dropout > 0) {
    Workers workers(threads);
    again = resegmented(data, seed, 0, workers);
  }
  if (!outline.measured()) {
    DataOutline known = outline_of(data, spec);
    if (again) {
      known.train = outline_of(*again);
      known.held = true;
    }
    check_run_sizes(resolved, known, threads, options.sizes, &plan.memory);
  }
  plan.parameters = make_model(spec, data)->parameters().count();
  plan.source = data.source_format();
  plan.target_symbols = data.target->size();
  plan.train = std::ssize(data.train.examples);
  plan.dev = std::ssize(data.dev.examples);
  plan.test = std::ssize(data.test.examples);
  plan.about = spec.train.batch.tokens.has_value();
  plan.updates_per_epoch =
      std::ssize(epoch_batches(again ? *again : data.train, spec.train.batch, seed, 0));
  plan.updates = spec.train.epochs * plan.updates_per_epoch;
  if (spec.train.max_updates) plan.updates = std::min(plan.updates, *spec.train.max_updates);
  return plan;
}

std::string plan_text(const Plan& plan) {
  const char* most = plan.trains_subwords ? "at most " : "";
  std::string text = fmt::format(
      "run id      {}\n"
      "folder      {}\n"
      "state       {}{}\n"
      "parameters  {}{}\n"
      "symbols     {}{}{} target\n",
      plan.run_id,
      printable(plan.folder.string(), kWhole),
      to_string(plan.status.state),
      plan.goes_on_from ? "; extends " + *plan.goes_on_from : "",
      most,
      plan.parameters,
      most,
      plan.source.frames ? "" : fmt::format("{} source, ", plan.source.symbols),
      plan.target_symbols);
  if (const FrameFormat& frames = plan.source.frames)
    text += fmt::format("frames      of {}\n", counted(frames.size, "number"));
  text += fmt::format("memory      about {}\n", bytes_text(plan.memory.bytes()));
  if (plan.trains_subwords)
    return text + "sentences   known once the run has trained its subwords\n";
  return text +
         fmt::format("sentences   {} train, {} dev, {} test\nupdates     {}{}, {} per epoch\n",
                     plan.train,
                     plan.dev,
                     plan.test,
                     plan.about ? "about " : "",
                     plan.updates,
                     plan.updates_per_epoch);
}

Json plan_json(const Plan& plan) {
  Json json = {{"run_id", plan.run_id},
               {"goes_on_from", plan.goes_on_from ? Json(*plan.goes_on_from) : Json()},
               {"folder", plan.folder.string()},
               {"state", to_string(plan.status.state)},
               {"trains_subwords", plan.trains_subwords},
               {"parameters", plan.parameters},
               {"symbols", {{"source", plan.source.symbols}, {"target", plan.target_symbols}}},
               {"memory", plan.memory.bytes()},
               {"sentences", {{"train", plan.train}, {"dev", plan.dev}, {"test", plan.test}}},
               {"updates", plan.updates},
               {"updates_per_epoch", plan.updates_per_epoch}};
  return json;
}

struct RunArguments {
  SpecArguments spec;
  ExperimentOptions options;
  std::string out = "results";
  bool dry_run = false;
  bool json = false;
  bool mpi = false;
  std::string progress = "text";
};

Json outcome_json(const ExperimentOutcome& outcome) {
  const Record record(RunFolder{outcome.folder}.record());
  return {{"run_id", outcome.run_id},
          {"record", record.file().string()},
          {"was_complete", outcome.was_complete},
          {"lines", record.attribute<Index>("data/test", "read").value_or(0)},
          {"test", metrics_json(read_by_length(record))}};
}

void print_outcome(const ExperimentOutcome& outcome) {
  const Record record(RunFolder{outcome.folder}.record());
  const MetricTable table = read_by_length(record);
  std::vector<std::string> metrics = main_metrics(table);
  for (const std::string& name : table.metrics)
    if (!Registry::instance().find_if_present(MetricKind::name, name))
      metrics.push_back(name);  // a baseline requested by the spec
  print_text(
      "test set{}, by source length\n{}", of_lines(record), metrics_by_length(table, metrics));
  print_text("{}{}\n", outcome.was_complete ? "complete already: " : "", short_path(record.file()));
}

// Loads the spec on every rank.
ResolvedSpec<Spec> load_on_all(const RunArguments& arguments, Ranks& ranks) {
  std::optional<ResolvedSpec<Spec>> resolved;
  agree(ranks, [&] {
    resolved = load(arguments.spec, arguments.out);
    return std::string("a spec");
  });
  return std::move(*resolved);
}

// Performs or plans one run. Returns its outcome or plan, which is not printed yet with --json.
Json run_once(const RunArguments& arguments, Ranks& ranks) {
  if (!ranks.first()) {
    follow_silently(ranks, [&](Observer& silent) {
      const auto resolved = load_on_all(arguments, ranks);
      if (!arguments.dry_run) run_experiment(resolved, arguments.options, silent);
    });
    return {};
  }
  const auto resolved = load_on_all(arguments, ranks);
  ProgressObserver observer(ProgressObserver::Signals::caught, arguments.out);
  if (arguments.dry_run) {
    const Plan plan = plan_run(resolved, arguments.options, arguments.out, observer);
    if (!arguments.json) print_text("{}", plan_text(plan));
    return plan_json(plan);
  }
  ExperimentOptions options = arguments.options;
  options.results = arguments.out;
  const bool streams = arguments.progress == "json";
  std::optional<JsonObserver> stream;
  if (streams) stream.emplace();
  Observer& watcher = streams ? static_cast<Observer&>(*stream) : observer;
  const ExperimentOutcome outcome = run_experiment(resolved, options, watcher);
  observer.clear();
  Json json = outcome_json(outcome);
  if (streams) {
    json["event"] = "end";
    write_data(json_line(json));
  } else if (!arguments.json) {
    print_outcome(outcome);
  }
  return json;
}

// Removes a list of seeds (`seed=1,2,3`) from the overrides and returns it; empty if no list is given.
std::vector<Index> take_seeds(std::vector<std::string>& overrides) {
  std::vector<Index> seeds;
  std::vector<std::string> others;
  const std::vector<Override> changes = numbered_overrides(overrides);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Value& value = changes[i].value;
    const bool list =
        value.is_list() || value.is_map() || value.text.find(',') != std::string::npos;
    if (changes[i].path == "seed" && !changes[i].remove && list)
      seeds = read_seeds(value, /*command_line=*/true);
    else
      others.push_back(overrides[i]);
  }
  overrides = std::move(others);
  return seeds;
}

// Runs several seeds one after another, each as it would run alone.
void run(RunArguments arguments) {
  const std::unique_ptr<Ranks> processes = start_ranks(arguments.mpi);
  Ranks& ranks = processes ? *processes : only_rank();
  arguments.options.ranks = &ranks;
  std::vector<Index> seeds;
  agree(ranks, [&] {
    seeds = take_seeds(arguments.spec.overrides);
    return fmt::format("{}{}",
                       counted(std::max(std::ssize(seeds), Index{1}), "run"),
                       arguments.dry_run ? " with --dry-run" : "");
  });
  const bool says = ranks.first() && arguments.progress != "json";
  if (seeds.empty()) {
    const Json json = run_once(arguments, ranks);
    if (says && arguments.json) print_json(json);
    return;
  }
  Json all = Json::array();
  for (const Index seed : seeds) {
    RunArguments one = arguments;
    one.spec.overrides.push_back(fmt::format("seed={}", seed));
    if (says && !arguments.json) print_text("seed {}\n", seed);
    agree(ranks, [&] {  // on whether there is a next run
      all.push_back(run_once(one, ranks));
      return std::string();
    });
  }
  if (says && arguments.json) print_json(all);
}

}  // namespace

void add_run(CLI::App& app, Outcome&) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      add_command(app,
                  "run",
                  "train or resume an experiment and write its record",
                  "Experiments",
                  "softalign run configs/reverse.yaml train.epochs=2 --threads 2\n  softalign run "
                  "configs/reverse.yaml seed=1,2,3");
  arguments->spec.add_to(*command);
  add_threads_option(*command,
                     arguments->options.threads,
                     "number of threads; it does not change the result (default: all cores)");
  command->add_option("--results", arguments->out, "folder for the records")->capture_default_str();
  command->add_flag("--force", arguments->options.force, "start again even if the run is complete");
  command->add_flag("--from-scratch",
                    arguments->options.from_scratch,
                    "train from scratch instead of extending a complete, shorter run");
  command->add_flag(
      "--steal",
      arguments->options.steal,
      "take the run over from a process on another machine, even if it may still be alive");
  add_size_option(*command, arguments->options.sizes);
  command->add_flag(
      "--mpi",
      arguments->mpi,
      "share the run among the processes started by mpirun or srun, at most train.groups of them");
  command->add_flag(
      "--dry-run", arguments->dry_run, "show what would be run, without writing a record");
  command->add_flag("--json", arguments->json, "print the outcome as JSON");
  command
      ->add_option("--progress",
                   arguments->progress,
                   "json: one JSON object per line on standard output, for each dev evaluation and "
                   "at the end")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([arguments] {
    try {
      run(*arguments);
    } catch (const Dismissed&) {  // the first rank reports the reason
    }
  });
}

}  // namespace softalign::app
