#include "framework/train/check_spec.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>

#include "framework/data/lengths.hpp"
#include "framework/data/task.hpp"
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

std::vector<std::string> check_data(const ResolvedSpec<Spec>& resolved,
                                    const Dataset& data,
                                    const Model& model,
                                    bool prunes) {
  const Spec& spec = resolved.spec;
  check_options(resolved, [&] {
    check_training(spec.train, data.train);
    require_references(spec, data, prunes);
  });
  if (model.reads_links()) require_links(spec, data);
  std::vector<std::string> notes;
  for (const Split* split : {&data.dev, &data.test})
    if (!has_references(*split))
      notes.push_back(fmt::format(
          "note: the {} sentences have no references: they are translated and not measured",
          split->name));
  return notes;
}

}  // namespace softalign
