#include "framework/app/models/trained.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "framework/app/experiments/load.hpp"
#include "framework/app/models/recorded_data.hpp"
#include "framework/app/models/state.hpp"
#include "framework/app/terminal/terminal.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/suggest.hpp"
#include "framework/base/text.hpp"
#include "framework/data/task.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/plugins.hpp"
#include "framework/train/check_spec.hpp"

namespace softalign::app {
namespace {

using Strings = std::vector<std::string>;

// What an override of a trained run changes in its spec.
Override trained_override(Override change, const Strings& measures) {
  const std::string head = change.path.substr(0, change.path.find('.'));
  if (head == "task" || head == "plugins") return change;
  // Where files are; what is frozen says how a checkpoint is laid out.
  for (const char* file : {"init.from", "init.source_embeddings", "init.target_embeddings"})
    if (change.path == file) return change;
  const Strings all = {"search", "lengths", "row_aligns", "batch", "task", "plugins"};
  if (std::ranges::find(all, head) == all.end())
    throw SpecError("{}: a trained run has no {} to change{}",
                    change.where.str(),
                    change.path,
                    suggestion(head, all));
  if (std::ranges::find(measures, head) == measures.end())
    throw SpecError("{}: this command has no use for {}; leave it out", change.where.str(), head);
  change.path = "evaluate." + change.path;
  return change;
}

std::vector<Override> trained_overrides(const Strings& texts, const Strings& measures) {
  std::vector<Override> changes;
  for (Override& change : numbered_overrides(texts))
    changes.push_back(trained_override(std::move(change), measures));
  return changes;
}

// What is wrong with a record's own spec is no fault of the caller's.
void check_recorded(const Record& record, const SpecTree& tree) {
  try {
    check_spec(resolve<Spec>(tree));
  } catch (const SpecError& error) {
    const std::string version = record.attribute<std::string>("", "framework_version").value_or("");
    const std::string commit =
        record.attribute<std::string>("provenance", "git_commit").value_or("");
    const std::string diff =
        record.has("provenance/git_diff") ? record.text("provenance", "git_diff") : "";
    const BuildInfo& own = build_info();
    if (version == own.version && commit == own.git_commit && diff == own.git_diff)
      throw damaged_record(record.file(), in_one_line(error));
    throw DataError(
        "{}: this program cannot read its spec ({}); use the program that made it: version {}, "
        "commit "
        "{}{}",
        record.file().string(),
        in_one_line(error),
        version,
        commit,
        diff.empty() ? "" : " with the changes in provenance/git_diff");
  }
}

std::shared_ptr<const Vocabulary> stored_vocabulary(const Record& record, const char* name) {
  const std::string text = record.text("data", name);
  try {
    return load_vocabulary(text);
  } catch (const DataError& error) {
    throw damaged_record(record.file(), fmt::format("{}: {}", name, error.what()));
  }
}

bool is_about_plugins(const Override& change) {
  return change.path.substr(0, change.path.find('.')) == "plugins";
}

// How many a spec names.
std::size_t count_plugins(Value& root) {
  const Value::Entry* const entry = root.find("plugins");
  return entry ? entry->value.items.size() : 0;
}

ResolvedSpec<Spec> changed_spec(const Record& record,
                                const std::vector<Override>& changes,
                                const Strings& plugins) {
  std::vector<std::string> notes;
  SpecTree tree;
  try {
    tree = parse_tree(record.spec_yaml(), record.file().string() + " (its spec)");
  } catch (const SpecError& error) {
    throw damaged_record(record.file(), in_one_line(error));
  }
  find_moved_data(record, tree.root);
  SpecTree as_recorded = tree;
  const bool replaced = std::ranges::any_of(changes, is_about_plugins);
  if (Value::Entry* const entry = tree.root.find("plugins"); entry && replaced)
    entry->value.items.clear();  // nothing of the record's is left among the user's
  for (const Override& change : changes) apply(tree.root, change, notes);
  load_plugins(tree.root, plugins, replaced ? NamedPlugins::load : NamedPlugins::refuse);
  try {
    check_recorded(record, as_recorded);
  } catch (const Error& error) {
    if (count_plugins(tree.root) >= count_plugins(as_recorded.root)) throw;
    throw SpecError(
        "{}; the record names more plugins than this command line: give --plugin for each", error);
  }
  ResolvedSpec<Spec> resolved = resolve<Spec>(std::move(tree));
  check_spec(resolved);
  return resolved;
}

TrainedRun open_one(const RunArgument& run,
                    const std::vector<Override>& changes,
                    const TrainedArguments& arguments) {
  Record record(find_run(run));
  ResolvedSpec<Spec> resolved = changed_spec(record, changes, arguments.plugins);
  FrameFormat frames;
  if (record.attribute<Index>("data", "frame_size"))
    frames = from_stored<FrameFormat>(record.attributes("data"));
  auto source = frames ? nullptr : stored_vocabulary(record, "source_vocabulary");
  auto target = stored_vocabulary(record, "target_vocabulary");
  auto model = std::make_unique<Model>(resolved.spec.model,
                                       frames ? SourceFormat(frames) : SourceFormat(source->size()),
                                       target->size(),
                                       static_cast<std::uint64_t>(resolved.spec.seed),
                                       resolved.spec.init.value_or(InitOptions{}).freeze);
  const std::string state = fill(*model, record, arguments.state);
  if (!state.empty()) write_error(fmt::format("note: run {}: {}\n", record.run_id(), state));
  for (const std::string& plugin : changed_plugins(record))
    write_error(fmt::format("note: made by {}; softalign run --force runs it again\n",
                            printable(plugin, kWhole)));
  return {std::move(record),
          std::move(resolved),
          std::move(source),
          frames,
          std::move(target),
          std::move(model),
          state};
}

void check_same(const TrainedRun& a,
                const TrainedRun& b,
                const char* side,
                std::shared_ptr<const Vocabulary> TrainedRun::*vocabulary) {
  if (!(a.*vocabulary) || !(b.*vocabulary)) return;  // frames: their tasks are compared
  const Vocabulary &of_a = *(a.*vocabulary), &of_b = *(b.*vocabulary);
  if (of_a.serialize() == of_b.serialize()) return;
  throw SpecError(
      "runs {} and {} cannot be asked together: their {} vocabularies differ ({} and {} symbols); "
      "give runs that were trained on the same text with the same task.vocabulary",
      a.record.run_id(),
      b.record.run_id(),
      side,
      of_a.size(),
      of_b.size());
}

void refuse_other_task(const Record& first, const Record& other) {
  const std::vector<std::string> found = task_differences(first, other);
  if (!found.empty())
    throw SpecError("runs {} and {} cannot be asked together: their tasks differ in {}",
                    first.run_id(),
                    other.run_id(),
                    fmt::join(found, ", "));
}

// A pattern of a shell may have matched more runs than were meant.
void name_members(const std::vector<TrainedRun>& members) {
  std::string names;
  for (const TrainedRun& run : members)
    names += fmt::format("{}{} {}",
                         names.empty() ? "" : ", ",
                         printable(run.record.name(), kWhole),
                         run.record.run_id());
  write_error(fmt::format("note: ensemble of {} models: {}\n", members.size(), names));
}

}  // namespace

void TrainedArguments::add_to(CLI::App& command, Strings used) {
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
                  state,
                  "which parameters: best, last or those of an update that has a checkpoint; of a "
                  "run that is not complete, best unless another is asked for")
      ->type_name("best|last|UPDATE")
      ->check(fault_of_state);
  add_record_plugin_option(command, plugins);
  add_threads_option(command, threads);
  add_size_option(command, sizes);
}

ResolvedSpec<Spec> recorded_spec(const Record& record,
                                 const Strings& overrides,
                                 const Strings& plugins) {
  return changed_spec(record, trained_overrides(overrides, {}), plugins);
}

void add_record_plugin_option(CLI::App& command, Strings& plugins) {
  add_plugin_option(command,
                    plugins,
                    "a plugin's .so file, in place of those that the record names, which are never "
                    "loaded by its word; may be repeated");
}

TrainedRuns open_trained(const TrainedArguments& arguments) {
  Strings texts;
  std::vector<RunArgument> runs = {arguments.run};
  for (const std::string& text : arguments.more) {
    if (is_override(text))
      texts.push_back(text);
    else
      runs.push_back({text, arguments.run.results});
  }
  if (runs.size() > 1 && !arguments.ensemble)
    throw SpecError("{} runs are given; name one, or ask them together with --ensemble",
                    runs.size());
  std::vector<Override> changes = trained_overrides(texts, arguments.measures);
  if (!arguments.search.empty() &&
      std::ranges::count(changes, "evaluate.search", &Override::path) > 0)
    throw SpecError(
        "--search is the same as search=..., which is given too; leave one of them out");
  if (!arguments.search.empty())
    changes.insert(changes.begin(),
                   parse_override("evaluate.search=" + arguments.search, {"--search"}));
  std::vector<TrainedRun> members;
  std::vector<const Model*> models;
  for (const RunArgument& run : runs) {
    members.push_back(open_one(run, changes, arguments));
    models.push_back(members.back().model.get());
    check_same(members.front(), members.back(), "source", &TrainedRun::source);
    check_same(members.front(), members.back(), "target", &TrainedRun::target);
    refuse_other_task(members.front().record, members.back().record);
    // How it is measured is the first one's business.
    std::erase_if(changes, [](const Override& c) { return c.path.starts_with("evaluate."); });
  }
  if (members.size() > 1) name_members(members);
  return {std::move(members),
          Scorer(models,
                 arguments.average == "probabilities" ? Scorer::Mean::probabilities
                                                      : Scorer::Mean::log_probabilities)};
}

std::vector<std::string> TrainedRuns::ids() const {
  std::vector<std::string> ids;
  for (const TrainedRun& run : members) ids.push_back(run.record.run_id());
  return ids;
}

void refuse_links(const TrainedRuns& runs) {
  if (runs.scorer.reads_links())
    throw SpecError(
        "attention '{}' reads the known links of every sentence, and there are none here; "
        "softalign "
        "evaluate measures this run on its own sentences",
        runs.first().spec().model.attention.type);
}

void EvaluationSizes::check(const EvaluationLoad& load, DataOutline data) {
  data.frames = runs_.first().frames;
  if (runs_.first().source) data.source_symbols = runs_.first().source->size();
  data.target_symbols = runs_.first().target->size();
  std::vector<const Spec*> specs;
  for (const TrainedRun& run : runs_.members) specs.push_back(&run.spec());
  const std::string note =
      check_sizes(meter_.of_evaluation(specs, data, load, threads_or_all(arguments_.threads)),
                  arguments_.sizes,
                  runs_.first().resolved.origins);
  if (!note.empty()) write_error(note + "\n");
}

void EvaluationSizes::check(const Split& split, bool searched) {
  const DataOutline::SplitOutline outline = outline_of(split);
  const Index longest = std::max(outline.source.longest, outline.target.longest);
  if (longest <= longest_) return;
  const EvaluateOptions& how = runs_.first().spec().evaluate;
  check({outline, searched ? &how.search : nullptr, how.batch});
  longest_ = longest;
}

std::unique_ptr<Search> TrainedRuns::search() const {
  const Spec& spec = first().spec();
  return make_plugin<SearchKind>(spec.evaluate.search, static_cast<std::uint64_t>(spec.seed));
}

Dataset load_data(const TrainedRun& run,
                  const std::string& split,
                  const std::vector<std::string>& missing,
                  const Progress& progress) {
  Dataset data;
  try {
    data = make_plugin<TaskKind>(run.spec().task)
               ->load_to_measure(static_cast<std::uint64_t>(run.spec().seed),
                                 split,
                                 {run.source, run.target},
                                 progress);
  } catch (const DataError& fault) {
    if (missing.empty()) throw;
    throw DataError("{}\n{}", fault, restore_advice(run.record, missing));
  }
  for (const std::string& note : data.notes)
    write_error(fmt::format("note: {}\n", printable(note, kWhole)));
  return data;
}

}  // namespace softalign::app
