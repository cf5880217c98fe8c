#include "framework/train/training_state.hpp"

#include "framework/base/bytes.hpp"
#include "framework/train/stored_numbers.hpp"

namespace softalign {

bool TrainingState::out_of_patience(const TrainOptions& options) const {
  return options.early_stopping && since_better >= options.early_stopping->patience;
}

bool TrainingState::ends(const TrainOptions& options) const {
  return out_of_patience(options) || epoch >= options.epochs ||
         (options.max_updates && update >= *options.max_updates);
}

std::string TrainingState::bytes() const {
  ByteWriter out;
  out.number(epoch);
  out.number(batch);
  out.number(update);
  out.number<std::uint8_t>(finished ? 1 : 0);
  out.number(best_update);
  out.number(best_value);
  out.number(since_better);
  return out.bytes();
}

TrainingState TrainingState::of(const Checkpoint& checkpoint) {
  const auto state = read_blob(checkpoint, "position", [](ByteReader& in) {
    TrainingState read;
    read.epoch = in.number<Index>();
    read.batch = in.number<Index>();
    read.update = in.number<Index>();
    read.finished = in.number<std::uint8_t>() != 0;
    read.best_update = in.number<Index>();
    read.best_value = in.number<double>();
    read.since_better = in.number<Index>();
    return read;
  });
  const bool possible = state.epoch >= 0 && state.epoch <= kMostEpochs && state.batch >= 0 &&
                        state.update == checkpoint.update && state.update >= 0 &&
                        state.since_better >= 0 && state.since_better <= kMostEpochs;
  if (!possible)
    throw DataError("checkpoint of update {}: 'position' is none that training reaches",
                    checkpoint.update);
  return state;
}

}  // namespace softalign
