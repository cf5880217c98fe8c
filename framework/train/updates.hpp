// The updates of a run: plans the batches of an epoch, and makes the steps that train on them. On several ranks
// (base/ranks.hpp), each computes its own groups of every batch.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "framework/base/ranks.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/dataset.hpp"
#include "framework/train/optimizer.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/step.hpp"

namespace softalign {

// The inputs of an update besides parameters and state, which the first rank sends to the others byte for byte.
struct UpdateOrder {
  Index epoch = 0;                       // from 0
  Index first_batch = 0, end_batch = 0;  // of the epoch
  Index number = 1;                      // from 1
  double rate_factor = 1;
  Objective objective = {};
};

class Updates {
 public:
  Updates(const Spec& spec, const Dataset& data, Model& model, Workers& workers, Ranks& ranks);

  // Plans an epoch unless it is planned; segments sentences again if the data require it. Polls `stop`
  // meanwhile, and throws Interrupted if it returns true.
  void plan(Index epoch, const std::function<bool()>& stop = {});
  Index batches() const { return std::ssize(batches_); }  // of the planned epoch
  // Makes one update. Collective.
  StepResult make(const UpdateOrder& order);
  // Returns the reason why nothing was updated, for the user.
  std::string what_is_not_finite(const UpdateOrder& order, const StepResult& result);

  const Optimizer& optimizer() const { return *optimizer_; }
  TrainingStep& step() { return step_; }

 private:
  const Split& sentences() const { return again_ ? *again_ : data_.train; }
  TrainingStep::Parts parts(std::span<const Index> examples) const;

  const Spec& spec_;
  const Dataset& data_;
  Model& model_;
  Workers& workers_;
  Ranks& ranks_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainingStep step_;
  std::optional<Index> epoch_;  // the planned one
  std::optional<Split> again_;  // its sentences, if they were segmented again
  Batches batches_;
};

}  // namespace softalign
