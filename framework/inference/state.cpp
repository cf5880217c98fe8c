#include "framework/inference/state.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "framework/config/value.hpp"
#include "framework/record/journal/history.hpp"
#include "framework/train/stored_numbers.hpp"
#include "framework/train/trainer.hpp"

namespace softalign {
namespace {

std::optional<Index> update_of(const StateName& name) {
  try {
    return to_integer(Value::scalar(name, {}), at_least(0));
  } catch (const ScalarFault&) {
    return std::nullopt;
  }
}

void fill_from_record(Model& model, const Record& record) {
  const auto stored = record.parameters();
  for (const Parameter& parameter : model.parameters().all()) {
    const auto found = stored.find(parameter.name);
    const View value = parameter.value();
    if (found == stored.end() || std::ssize(found->second.values) != value.size())
      throw DataError("{}: parameter '{}' is missing or has another size than the spec's model",
                      record.file().string(),
                      parameter.name);
    std::copy(found->second.values.begin(), found->second.values.end(), value.begin());
  }
}

// The newest one that is whole, of that update if one is asked for. While the run trains, a checkpoint may
// go between the look at its mark and at its file: there is a newer one then.
Checkpoint checkpoint_of(const Record& record, std::optional<Index> update) {
  const RunFolder run{folder_of(record.file())};
  std::vector<Index> there;
  for (int look = 0; look < 3; ++look) {
    there.clear();
    const History history = read_history(run);
    check_journals(history, run, record.run_id());
    for (auto frame = history.live.rbegin(); frame != history.live.rend(); ++frame) {
      const auto* mark = std::get_if<CheckpointMark>(&*frame);
      if (!mark || !is_there(run.checkpoints() / mark->file)) continue;
      if (std::ranges::find(there, mark->update) == there.end()) there.push_back(mark->update);
      if (update && mark->update != *update) continue;
      if (auto blobs = load_checkpoint(run.checkpoints(), *mark))
        return {mark->update, std::move(*blobs)};
    }
    if (update) break;
  }
  std::ranges::sort(there);
  throw DataError("{}: ckpt/ beside it holds no whole checkpoint{}{}",
                  record.file().string(),
                  update ? fmt::format(" of update {}", *update) : "",
                  there.empty()
                      ? "; a run saves one after every epoch, and record.keep says which stay"
                      : fmt::format("; there are those of updates {}", fmt::join(there, ", ")));
}

}  // namespace

std::string fault_of_state(const StateName& name) {
  if (name.empty() || name == "best" || name == "last" || update_of(name)) return "";
  return fmt::format("'{}' is neither best nor last nor an update's number", name);
}

std::string fill(Model& model, const Record& record, const StateName& state) {
  if ((state.empty() || state == "best") && record.has("parameters")) {
    fill_from_record(model, record);
    return "";
  }
  const Checkpoint checkpoint = checkpoint_of(record, update_of(state));
  const bool best = (state.empty() || state == "best") && checkpoint.blobs.contains("best");
  const ParameterStore& store = model.parameters();
  numbers_from(checkpoint,
               best ? "best" : "parameters",
               model.parameters().values(),
               usize(store.flat_size()));
  const std::string which = best                ? "the state chosen so far, "
                            : !update_of(state) ? "the last state, "
                                                : "the state ";
  return fmt::format("{}of update {} (the run is {})",
                     which,
                     best ? TrainingState::of(checkpoint).best_update : checkpoint.update,
                     record.state());
}

}  // namespace softalign
