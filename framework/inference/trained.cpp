#include "framework/inference/trained.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>

#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/config/value.hpp"
#include "framework/data/task.hpp"
#include "framework/inference/evaluate_run.hpp"
#include "framework/record/provenance/provenance.hpp"
#include "framework/record/published/compare.hpp"
#include "framework/train/load_spec.hpp"

namespace softalign {
namespace {

using Strings = std::vector<std::string>;

// Returns an override of a trained run with its full path in the spec.
Override trained_override(Override change, const Strings& measures) {
  constexpr std::string_view kBlock = "evaluate.";  // may be omitted
  if (change.path.starts_with(kBlock)) change.path.erase(0, kBlock.size());
  const std::string head = change.path.substr(0, change.path.find('.'));
  if (head == "task" || head == "plugins") return change;
  // Only file paths of `init` may change: frozen parameters determine the layout of a checkpoint.
  for (const char* file : {"init.from", "init.source_embeddings", "init.target_embeddings"})
    if (change.path == file) return change;
  const Strings all = {
      "search", "lengths", "row_aligns", "unknown_words", "batch", "task", "plugins"};
  if (std::ranges::find(all, head) == all.end())
    throw SpecError("{}: a trained run has no {} to change{}",
                    change.where.str(),
                    change.path,
                    suggestion(head, all));
  if (std::ranges::find(measures, head) == measures.end())
    throw SpecError("{}: this command ignores {}; remove it", change.where.str(), head);
  change.path = "evaluate." + change.path;
  return change;
}

// Checks a record's own spec, whose errors are not the caller's fault.
void check_recorded(const Record& record, const SpecTree& tree) {
  try {
    check_spec(resolve<Spec>(tree));
  } catch (const SpecError& error) {
    if (const auto missing = changed_plugins(record); !missing.empty())
      throw SpecError("{}: made by the plugin {}; give it with --plugin FILE if you trust it",
                      record.file().string(),
                      fmt::join(missing, ", "));
    const std::string version = record.attribute<std::string>("", "framework_version").value_or("");
    const std::string commit =
        record.attribute<std::string>("provenance", "git_commit").value_or("");
    const std::string diff =
        record.has("provenance/git_diff") ? record.text("provenance", "git_diff") : "";
    const BuildInfo& own = build_info();
    if (version == own.version && commit == own.git_commit && diff == own.git_diff)
      throw damaged_record(record.file(), in_one_line(error));
    throw DataError(
        "{}: this program cannot read its spec ({}); use the program that wrote it: version {}, "
        "commit {}{}",
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

FrameStatistics stored_statistics(const Record& record, const FrameFormat& frames) {
  FrameStatistics statistics;
  if (!record.has("data/frame_mean")) return statistics;
  for (auto [name, numbers] :
       {std::pair("frame_mean", &statistics.mean), {"frame_deviation", &statistics.deviation}}) {
    const Values values = record.array("data", name).values;
    const auto* column = std::get_if<std::vector<double>>(&values);
    if (!column || std::ssize(*column) != frames.size)
      throw damaged_value(record.file(), fmt::format("data/{}", name));
    *numbers = *column;
  }
  return statistics;
}

bool is_about_plugins(const Override& change) {
  return change.path.substr(0, change.path.find('.')) == "plugins";
}

// Returns the number of plugins that a spec names.
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
    entry->value.items.clear();  // the user's plugins replace all of the record's
  for (const Override& change : changes) apply(tree.root, change, notes);
  load_plugins(tree.root, plugins, replaced ? NamedPlugins::load : NamedPlugins::refuse);
  try {
    check_recorded(record, as_recorded);
  } catch (const Error& error) {
    if (count_plugins(tree.root) >= count_plugins(as_recorded.root)) throw;
    throw SpecError(
        "{}; the record names more plugins than this command line: give --plugin for each of them",
        error);
  }
  ResolvedSpec<Spec> resolved = resolve<Spec>(std::move(tree));
  check_spec(resolved);
  return resolved;
}

TrainedRun open_one(const fs::path& file,
                    const std::vector<Override>& changes,
                    const TrainedOptions& options) {
  Record record(file);
  ResolvedSpec<Spec> resolved = changed_spec(record, changes, options.plugins);
  FrameFormat frames;
  if (record.attribute<Index>("data", "frame_size"))
    frames = from_stored<FrameFormat>(record.attributes("data"));
  auto source = frames ? nullptr : stored_vocabulary(record, "source_vocabulary");
  auto target = stored_vocabulary(record, "target_vocabulary");
  FrameStatistics statistics = stored_statistics(record, frames);
  auto model =
      std::make_unique<Model>(resolved.spec.model,
                              frames ? SourceFormat(frames) : SourceFormat(*source, target),
                              TargetFormat(*target),
                              static_cast<std::uint64_t>(resolved.spec.seed),
                              resolved.spec.init.value_or(InitOptions{}).freeze);
  const std::string state = fill(*model, record, options.state);
  if (options.note) {
    if (!state.empty()) options.note(fmt::format("note: run {}: {}", record.run_id(), state));
    for (const std::string& plugin : changed_plugins(record))
      options.note(fmt::format("note: made by {}; softalign run --force runs it again", plugin));
  }
  return {fs::absolute(record.file()),
          record.run_id(),
          record.name(),
          record.last_update(),
          std::move(resolved),
          std::move(source),
          frames,
          std::move(statistics),
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
      "runs {} and {} cannot form an ensemble: their {} vocabularies differ ({} and {} symbols); "
      "give runs that were trained on the same text with the same task.vocabulary",
      a.run_id,
      b.run_id,
      side,
      of_a.size(),
      of_b.size());
}

void refuse_other_task(const Record& first, const Record& other) {
  const std::vector<std::string> found = differences_in("task", first, other);
  if (!found.empty())
    throw SpecError("runs {} and {} cannot form an ensemble: their tasks differ in {}",
                    first.run_id(),
                    other.run_id(),
                    fmt::join(found, ", "));
}

}  // namespace

std::vector<Override> trained_overrides(const Strings& texts, const Strings& measures) {
  std::vector<Override> changes;
  for (Override& change : numbered_overrides(texts))
    changes.push_back(trained_override(std::move(change), measures));
  return changes;
}

ResolvedSpec<Spec> recorded_spec(const Record& record,
                                 const Strings& overrides,
                                 const Strings& plugins) {
  return changed_spec(record, trained_overrides(overrides, {}), plugins);
}

TrainedRuns open_trained(const std::vector<fs::path>& records, const TrainedOptions& options) {
  std::vector<Override> changes = options.changes;
  std::vector<TrainedRun> members;
  std::vector<const Model*> models;
  for (const fs::path& record : records) {
    members.push_back(open_one(record, changes, options));
    models.push_back(members.back().model.get());
    check_same(members.front(), members.back(), "source", &TrainedRun::source);
    check_same(members.front(), members.back(), "target", &TrainedRun::target);
    refuse_other_task(members.front().record(), members.back().record());
    // Only the first run determines how an ensemble is evaluated.
    std::erase_if(changes, [](const Override& c) { return c.path.starts_with("evaluate."); });
  }
  return {std::move(members), Scorer(models, options.mean), options};
}

std::vector<std::string> TrainedRuns::ids() const {
  std::vector<std::string> ids;
  for (const TrainedRun& run : members) ids.push_back(run.run_id);
  return ids;
}

void refuse_links(const TrainedRuns& runs) {
  if (runs.scorer.batch_parts().links)
    throw SpecError(
        "attention '{}' reads gold links of every sentence, but there are none here; softalign "
        "evaluate measures this run on its own sentences",
        runs.first().spec().model.attention.type);
}

MemoryEstimate EvaluationSizes::estimate(const EvaluationLoad& load, DataOutline data) {
  data.frames = runs_.first().frames;
  if (runs_.first().source) data.source_symbols = runs_.first().source->size();
  data.target_symbols = runs_.first().target->size();
  std::vector<const Spec*> specs;
  for (const TrainedRun& run : runs_.members) specs.push_back(&run.spec());
  return meter_.of_evaluation(specs, data, load, resolve_thread_count(runs_.options.threads));
}

void EvaluationSizes::check(const EvaluationLoad& load, DataOutline data) {
  const std::string note = check_sizes(
      estimate(load, std::move(data)), runs_.options.sizes, runs_.first().resolved.origins);
  if (!note.empty()) runs_.note(note);
}

void EvaluationSizes::check(const Split& split, bool searched) {
  const DataOutline::SplitOutline outline = outline_of(split);
  const Index longest = std::max(outline.source.longest, outline.target.longest);
  if (longest <= longest_) return;
  const EvaluateOptions& how = runs_.first().spec().evaluate;
  try {
    check({outline, searched ? &how.search : nullptr, how.batch});
  } catch (const SpecError& error) {
    if (!searched) throw;
    throw SpecError("{}; or --too-long={}, for the longest {}",
                    error,
                    runs_.first().frames ? "skip" : "crop or skip",
                    runs_.first().frames ? "arrays" : "lines");
  }
  longest_ = longest;
}

Index EvaluationSizes::longest_source(Index longest, Index sentences) {
  const SizeCheck& sizes = runs_.options.sizes;
  if (!sizes.refuse || longest == 0) return longest;
  const EvaluateOptions& how = runs_.first().spec().evaluate;
  const auto load = [&](Index length) -> EvaluationLoad {
    DataOutline::SplitOutline outline{.references = false, .examples = sentences};
    outline.source = DataOutline::Lengths::even(length, length);
    return {outline, &how.search, how.batch};
  };
  // Bisection, which begins with the full length.
  for (Index length = longest; fits_ < longest && fits_ + 1 < exceeds_;
       length = (fits_ + std::min(exceeds_, longest + 1)) / 2) {
    if (length >= exceeds_) continue;
    const double bytes = estimate(load(length), {}).bytes();
    if (bytes * static_cast<double>(sizes.side_by_side) <= sizes.machine.limit)
      fits_ = length;
    else
      exceeds_ = length;
  }
  if (fits_ == 0) check(load(1));
  return std::min(longest, fits_);
}

namespace {

// Prints a note if members of an ensemble differ in the options of this block, unless an override sets the block.
void note_others(const TrainedRuns& runs, const std::string& block) {
  if (runs.members.size() == 1) return;
  for (const Override& change : runs.options.changes)
    if (change.path == block || change.path.starts_with(block + ".")) return;
  const Record first = runs.first().record();
  for (const TrainedRun& other : runs.members)
    if (const auto found = differences_in(block, first, other.record()); !found.empty())
      runs.note(fmt::format("note: runs {} and {} differ in {}; what the first has is used",
                            runs.first().run_id,
                            other.run_id,
                            fmt::join(found, ", ")));
}

}  // namespace

std::unique_ptr<Search> TrainedRuns::search() const {
  note_others(*this, "evaluate.search");
  return make_search(first().spec().evaluate.search, first().spec());
}

std::unique_ptr<const UnknownWords> TrainedRuns::unknown_words() const {
  note_others(*this, "evaluate.unknown_words");
  std::unique_ptr<const UnknownWords> words;
  check_options(first().resolved, [&] {
    words = make_unknown_words(first().spec().evaluate, first().source.get(), *first().target);
  });
  return words;
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
                                 {run.source, run.target, run.statistics},
                                 progress);
  } catch (const DataError& fault) {
    if (missing.empty()) throw;
    throw DataError("{}\n{}", fault, restore_advice(run.record(), missing));
  }
  return data;
}

}  // namespace softalign
