// One training step, cut into shards. A shard has its own tape and runs on one thread; gradients are
// added in the order of the shards. The spec says how many shards, threads only decide who computes
// what: the bits never depend on it.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "framework/base/workers.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/optimizer.hpp"
#include "framework/train/table_gradients.hpp"
#include "framework/train/weight_gradients.hpp"

namespace softalign {

struct StepOptions {
  Index shards = 8;
  double clip_norm = 1;         // 0: no clipping
  bool clip_embeddings = true;  // the norm is that of embeddings too, which are scaled either way
  enum class Loss { token, sentence, sum } loss = Loss::token;  // what it is divided by
  std::uint64_t seed = 0;  // of what is drawn at random while training, such as dropout
};

struct StepResult {
  double nll = 0;                        // nats, summed over the target symbols of the batch
  double objective = 0;                  // what was minimised
  Index tokens = 0;                      // target symbols, with </s>
  Index correct = 0;                     // the most probable symbol is the right one
  double gradient_norm = 0;              // before clipping
  std::array<double, 2> attention = {};  // Model::Forward::attention_totals, summed
};

class TrainingStep {
 public:
  TrainingStep(Model& model,
               const Optimizer& optimizer,
               const StepOptions& options,
               Workers& workers);

  // Forward, backward, reduction, clipping and update number `update` (from 1). shards: the batch,
  // cut, some may be empty; or those of several batches one behind the other, whose gradients add up.
  // objective.factor multiplies what StepOptions::loss says. When the loss or the gradient is not
  // finite nothing is updated: look at the result.
  StepResult run(const std::vector<Batch>& shards,
                 Index update,
                 double rate_factor = 1,
                 const Objective& objective = {});

  // The first parameter whose gradient is not finite after the last run; empty when all are.
  std::string bad_parameter() const;
  // Rows of the shard whose loss is not finite, as examples of the split.
  static std::vector<Index> bad_examples(Model& model, const std::vector<Batch>& shards);

  // Optimiser buffers by name, for checkpoints.
  struct Buffer {
    std::string name;
    std::vector<real> numbers;
  };
  std::vector<Buffer>& state() { return state_; }
  std::size_t peak_bytes() const;  // of what shards compute

  // Forward and backward of one shard: what every tape of a step does.
  static StepResult run_shard(const Model& model,
                              Tape& tape,
                              const Batch& shard,
                              std::uint64_t seed,
                              Index update,
                              const Objective& objective);

 private:
  void update(Index number, double rate_factor, double norm);

  Model& model_;
  const Optimizer& optimizer_;
  StepOptions options_;
  Workers& workers_;
  WeightGradients weight_gradients_;
  TableGradients table_gradients_;
  WeightPacks packs_;                         // for all shards
  std::vector<std::unique_ptr<Tape>> tapes_;  // of the shards that run at a time
  std::vector<StepResult> results_;
  std::vector<Buffer> state_;
};

}  // namespace softalign
