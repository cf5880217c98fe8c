// What a resumed run must know besides parameters and the buffers of optimiser, schedule and averages.
#pragma once

#include "framework/record/journal/checkpoint.hpp"
#include "framework/train/train_options.hpp"

namespace softalign {

struct TrainingState {
  Index epoch = 0;  // finished ones, their dev evaluation included
  Index batch = 0;  // of the epoch: those before it are done
  Index update = 0;
  bool finished = false;
  Index best_update = 0;   // when the best parameters were the newest
  double best_value = 0;   // of the watched metric
  Index since_better = 0;  // dev evaluations without a better one

  // Whether training has ended, if it has just ended an epoch.
  bool out_of_patience(const TrainOptions& options) const;
  bool ends(const TrainOptions& options) const;

  std::string bytes() const;
  static TrainingState of(const Checkpoint& checkpoint);  // throws DataError
};

}  // namespace softalign
