#include "framework/app/experiments/plan.hpp"

#include <algorithm>

#include "framework/base/counted.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/resegment.hpp"
#include "framework/data/task.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/shorter_run.hpp"
#include "framework/train/text_results.hpp"

namespace softalign::app {

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
  check_run_sizes(resolved, outline, threads, options.sizes);
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
  if (!outline.measured())
    check_run_sizes(resolved, outline_of(data, spec), threads, options.sizes);
  plan.parameters = make_model(spec, data)->parameters().count();
  plan.source = data.source_format();
  plan.target_symbols = data.target->size();
  plan.train = std::ssize(data.train.examples);
  plan.dev = std::ssize(data.dev.examples);
  plan.test = std::ssize(data.test.examples);
  std::optional<Split> again;
  if (data.subword_dropout > 0) {
    Workers workers(threads);
    again = resegmented(data, seed, 0, workers);
  }
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
      plan.goes_on_from ? "; goes on from " + *plan.goes_on_from : "",
      most,
      plan.parameters,
      most,
      plan.source.frames ? "" : fmt::format("{} source, ", plan.source.symbols),
      plan.target_symbols);
  if (const FrameFormat& frames = plan.source.frames)
    text += fmt::format("frames      of {}\n", counted(frames.size, "number"));
  if (plan.trains_subwords)
    return text + "sentences   known when the run has trained its sub-words\n";
  return text + fmt::format(
                    "sentences   {} train, {} dev, {} test\n"
                    "updates     {}{}, {} an epoch\n",
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
               {"sentences", {{"train", plan.train}, {"dev", plan.dev}, {"test", plan.test}}},
               {"updates", plan.updates},
               {"updates_per_epoch", plan.updates_per_epoch}};
  return json;
}

}  // namespace softalign::app
