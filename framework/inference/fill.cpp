#include "framework/inference/fill.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/record/journal/history.hpp"
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

// The checkpoints of "average:4", the 4 newest, or of "average:500,1000", those of updates 500 and 1000.
struct AveragedStates {
  Index newest = 0;
  std::vector<Index> updates;
};

std::optional<AveragedStates> averaged_states(const StateName& name) {
  constexpr std::string_view kStart = "average:";
  if (!name.starts_with(kStart)) return std::nullopt;
  std::vector<Index> numbers;
  for (std::size_t begin = kStart.size(); begin <= name.size();) {
    const std::size_t end = std::min(name.find(',', begin), name.size());
    const std::optional<Index> number = update_of(name.substr(begin, end - begin));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    begin = end + 1;
  }
  if (numbers.size() == 1 && numbers[0] >= 1) return AveragedStates{numbers[0], {}};
  std::ranges::sort(numbers);
  const bool differ = std::ranges::adjacent_find(numbers) == numbers.end();
  if (numbers.size() < 2 || !differ) return std::nullopt;
  return AveragedStates{0, numbers};
}

// The checkpoints of a run. While the run trains, a checkpoint may be deleted between reading its mark and its file;
// then there is a newer one.
class Checkpoints {
 public:
  explicit Checkpoints(const Record& record)
      : file_(record.file()), run_{folder_of(record.file())}, history_(read_history(run_)) {
    check_journals(history_, run_, record.run_id());
    for (const Frame& frame : history_.live)
      if (const auto* mark = std::get_if<CheckpointMark>(&frame))
        if (is_there(run_.checkpoints() / mark->file)) marks_.push_back(*mark);
  }

  // Returns the updates that have a checkpoint, ascending.
  std::vector<Index> updates() const {
    std::set<Index> all;
    for (const CheckpointMark& mark : marks_) all.insert(mark.update);
    return {all.begin(), all.end()};
  }
  // Returns the newest complete checkpoint, or that of the given update; empty if it does not exist.
  std::optional<Checkpoint> load(std::optional<Index> update) const {
    for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
      if (update && mark->update != *update) continue;
      if (auto blobs = load_checkpoint(run_.checkpoints(), *mark))
        return Checkpoint{mark->update, std::move(*blobs)};
    }
    return std::nullopt;
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    const std::vector<Index> there = updates();
    throw DataError("{}: ckpt/ next to it has no complete checkpoint{}{}",
                    file_.string(),
                    wanted,
                    there.empty()
                        ? "; a run saves one after every epoch, and record.keep says which are kept"
                        : fmt::format("; available updates: {}", fmt::join(there, ", ")));
  }

 private:
  fs::path file_;
  RunFolder run_;
  History history_;
  std::vector<CheckpointMark> marks_;  // of existing files
};

Checkpoint checkpoint_of(const Record& record, std::optional<Index> update) {
  constexpr int kLooks = 3;
  for (int look = 1;; ++look) {
    const Checkpoints all(record);
    if (auto found = all.load(update)) return std::move(*found);
    if (update || look == kLooks) all.refuse(update ? fmt::format(" of update {}", *update) : "");
  }
}

// Fills the model with the mean of checkpoints' parameters, summed in double from the first update to the last.
// Returns their updates.
std::vector<Index> fill_with_mean(Model& model,
                                  const Record& record,
                                  const StateName& name,
                                  AveragedStates of) {
  const Checkpoints all(record);
  if (of.newest > 0) {
    of.updates = all.updates();
    const Index there = std::ssize(of.updates);
    if (there < of.newest)
      throw DataError(
          "{}: ckpt/ next to it has {}, fewer than {} asks for; train with record.keep=all",
          record.file().string(),
          counted(there, "checkpoint"),
          name);
    of.updates.erase(of.updates.begin(), of.updates.end() - of.newest);
  }
  const auto size = usize(model.parameters().flat_size());
  std::vector<double> sum(size);
  std::vector<real> numbers(size);
  for (const Index update : of.updates) {
    const auto checkpoint = all.load(update);
    if (!checkpoint) all.refuse(fmt::format(" of update {}", update));
    numbers_from(*checkpoint, "parameters", numbers.data(), size);
    for (std::size_t i = 0; i < size; ++i) sum[i] += static_cast<double>(numbers[i]);
  }
  const auto count = static_cast<double>(of.updates.size());
  real* const values = model.parameters().values();
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<real>(sum[i] / count);
  return of.updates;
}

}  // namespace

std::string fault_of_state(const StateName& name) {
  if (name.empty() || name == "best" || name == "last" || update_of(name) || averaged_states(name))
    return "";
  return fmt::format(
      "'{}' is neither best nor last nor the number of an update nor average:N, as average:5, nor "
      "average:UPDATE,UPDATE,..",
      name);
}

std::string fill(Model& model, const Record& record, const StateName& state) {
  if (const std::string fault = fault_of_state(state); !fault.empty())
    throw SpecError("state: {}", fault);
  if ((state.empty() || state == "best") && record.has("parameters")) {
    fill_from_record(model, record);
    return "";
  }
  if (const auto averaged = averaged_states(state))
    return fmt::format("the mean of the states of updates {} (the run is {})",
                       fmt::join(fill_with_mean(model, record, state, *averaged), ", "),
                       record.state());
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
