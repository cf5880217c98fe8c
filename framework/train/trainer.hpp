// The training loop: epochs of batches, dev evaluations, early stopping, checkpoints. Parts of models and
// files are left to the model, the step, the recorder and the observer.
#pragma once

#include "framework/data/dataset.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/record/journal/checkpoint.hpp"
#include "framework/record/recorder.hpp"
#include "framework/train/averaging.hpp"
#include "framework/train/diagnostics.hpp"
#include "framework/train/evaluation.hpp"
#include "framework/train/followers.hpp"
#include "framework/train/observer.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/train_options.hpp"
#include "framework/train/updates.hpp"

namespace softalign {

// The state of a resumed run besides parameters and the buffers of optimiser, schedule and averages.
struct TrainingState {
  Index epoch = 0;  // finished epochs, dev evaluations included
  Index batch = 0;  // next batch of the epoch
  Index update = 0;
  Index evaluated = 0;  // update of the newest dev evaluation; 0: none yet
  bool finished = false;
  Index best_update = 0;   // update that gave the best parameters
  double best_value = 0;   // of the watched metric
  Index since_better = 0;  // dev evaluations since the best one

  // Return whether training ends, provided that dev has just been evaluated.
  bool out_of_patience(const TrainOptions& options) const;
  bool ends(const TrainOptions& options) const;

  std::string bytes() const;
  static TrainingState of(const Checkpoint& checkpoint);  // throws DataError
};

class Trainer {
 public:
  Trainer(const Spec& spec,
          const Dataset& data,
          Model& model,
          Recorder& recorder,
          Workers& workers,
          Observer& observer,
          Leader& leader,
          Pruner* pruner = nullptr);

  // Trains to the end, from the state set by restore(), and leaves the best parameters (by the
  // watched metric, else the last) in the model. Throws Interrupted, after saving, if the observer
  // requests it, and RunError for a loss that is not finite. If the pruner stops training early, the
  // state is saved and the model has the parameters of that moment.
  void run();
  void restore(const Checkpoint& checkpoint);

  Index update() const { return state_.update; }
  Index best_update() const { return state_.best_update; }
  // The reason why the pruner stopped the run; empty if it did not.
  const std::optional<std::string>& pruned() const { return pruned_; }

 private:
  // Trains to the end of the epoch, including its dev evaluations, or to the end of training.
  void train_epoch();
  void train_batches();
  void end_epoch();
  void decide();  // whether training ends after a dev evaluation
  bool reached_last_update() const;
  bool evaluation_is_due() const;  // always false without evaluate.every
  void one_update();
  void record_update(const StepResult& result, double rate_factor, const Objective& objective);
  void evaluate_dev();
  MetricTable evaluate_parameters();
  void tell_early_stop();
  void save();
  [[noreturn]] void refuse_loss(const UpdateOrder& order, const StepResult& result);

  const Spec& spec_;
  const Dataset& data_;
  Model& model_;
  Recorder& recorder_;
  Workers& workers_;
  Observer& observer_;
  Pruner* pruner_;
  Leader& leader_;
  Updates updates_;
  std::unique_ptr<Schedule> schedule_;
  std::optional<Averaging> averaging_;
  Evaluation dev_;
  Diagnostics diagnostics_;
  std::vector<NamedMetric> metrics_;
  TrainingState state_;
  std::vector<real> best_;  // parameters
  Index saved_at_ = -1;
  std::optional<std::string> pruned_;
  TrainingProgress progress_;
};

}  // namespace softalign
