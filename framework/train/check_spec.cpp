#include "framework/train/check_spec.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "framework/data/lengths.hpp"
#include "framework/data/task.hpp"
#include "framework/eval/bleu.hpp"
#include "framework/eval/chrf.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/search.hpp"
#include "framework/train/optimizer.hpp"
#include "framework/train/schedule.hpp"
#include "framework/train/watched_metric.hpp"

namespace softalign {
namespace {

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

// A metric that is to be watched must be one that dev sentences will define.
void check_dev_metric(const ResolvedSpec<Spec>& resolved,
                      const std::string& path,
                      const std::string& metric,
                      const Model& model) {
  const auto found = resolved.origins.find(path);
  const WatchedMetric watched(
      path, metric, found == resolved.origins.end() ? Position{} : found->second);
  SentenceResult sentence;  // as an evaluation of this spec fills it
  sentence.source_length = 1;
  sentence.teacher_forced = {1, 1};
  sentence.pointing = {0, model.aligns() ? 1 : 0};
  sentence.attention_steps = model.aligns() ? 1 : 0;
  sentence.searched = resolved.spec.evaluate.search_dev;
  sentence.free_running = {1, 1};
  sentence.bleu = bleu_stats(std::vector<std::string>{"a"}, std::vector<std::string>{"a"});
  sentence.chrf = chrf_stats("a", "a");
  check_options(resolved, [&] { watched.value(summarize({sentence}, all_metrics())); });
}

// Throws SpecError where the encoder reads other sources than the task has.
void check_source(const Spec& spec, const Task& task, const Encoder& reader) {
  const Index wanted = reader.image_height(), height = task.image_height();
  const std::string& encoder = spec.model.encoder.type;
  if (wanted == 0) return;
  if (wanted == height) {
    const Index levels = task.most_symbols().source - kSpecials;
    if (reader.image_levels() != levels)
      throw SpecError(
          "model.encoder.levels: encoder '{}' reads {} grey levels, and the images of task '{}' "
          "have {}; set model.encoder.levels={}",
          encoder,
          reader.image_levels(),
          spec.task.type,
          levels,
          levels);
    return;
  }
  if (height == 0)
    throw SpecError(
        "model.encoder: encoder '{}' reads images, and the sources of task '{}' are text; choose "
        "another encoder, or a task such as image_captions",
        encoder,
        spec.task.type);
  throw SpecError(
      "model.encoder.height: encoder '{}' reads images of height {}, and those of task '{}' have "
      "{}; set model.encoder.height={}",
      encoder,
      wanted,
      spec.task.type,
      height,
      height);
}

// Throws SpecError when training itself is to be steered by metrics that cannot be.
void require_references(const Spec& spec, const Dataset& data, bool prunes) {
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
}

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

void check_options(const ResolvedSpec<Spec>& resolved, const std::function<void()>& check) {
  try {
    check();
  } catch (const SpecError& error) {
    const std::string_view message = error.what();
    const std::string option(message.substr(0, message.find(": ")));
    auto found = resolved.origins.lower_bound(option);  // it, or the first of its block
    if (found != resolved.origins.end() && found->first != option &&
        !found->first.starts_with(option + "."))
      found = resolved.origins.end();
    if (begins_with_position(message) || found == resolved.origins.end()) throw;
    throw SpecError("{}: {}", found->second.str(), message);
  }
}

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
  if (spec.train.early_stopping)
    check_dev_metric(
        resolved, "train.early_stopping.metric", spec.train.early_stopping->metric, model);
  if (spec.train.average)
    check_dev_metric(resolved, "train.average.metric", spec.train.average->metric, model);
  check_options(resolved, [&] { check_source(spec, *task, model.encoder()); });
  make_plugin<OptimizerKind>(spec.train.optimizer);
  if (spec.train.schedule) make_plugin<ScheduleKind>(*spec.train.schedule);
  for (const auto& [path, choice] : {std::pair("evaluate.search", spec.evaluate.search),
                                     {"evaluate.dev_search", spec.evaluate.dev_search}}) {
    const auto search = make_plugin<SearchKind>(choice, static_cast<std::uint64_t>(spec.seed));
    check_options(resolved, [&] { check_search(*search, model, path); });
  }
}

std::vector<std::string> check_data(const ResolvedSpec<Spec>& resolved,
                                    const Dataset& data,
                                    const Model& model,
                                    bool prunes) {
  const Spec& spec = resolved.spec;
  check_options(resolved, [&] {
    check_training(spec.train, data.train);
    require_references(spec, data, prunes);
  });
  if (model.reads_links()) try {
      require_links(spec, data);
    } catch (const SpecError& error) {
      rethrow_at(spec.model.attention, error);
    }
  std::vector<std::string> notes;
  for (const Split* split : {&data.dev, &data.test})
    if (!has_references(*split))
      notes.push_back(fmt::format(
          "note: the {} sentences have no references: they are translated and not measured",
          split->name));
  return notes;
}

}  // namespace softalign
