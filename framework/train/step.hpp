// One training step. A batch is cut into parts, as many as there are threads; each has its own tape and runs
// on one thread. Sums over sentences are taken in the order of the sentences, so that the bits depend neither
// on the cut nor on the threads.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "framework/base/ranks.hpp"
#include "framework/base/workers.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/group_sum.hpp"
#include "framework/train/optimizer.hpp"
#include "framework/train/weight_gradients.hpp"

namespace softalign {

// A part of a batch on its tape: forward up to the output layer's loss, which all parts share
// (seq/output_layer.hpp), and backward.
class PartOfBatch {
 public:
  explicit PartOfBatch(WeightPacks& shared) : tape_(Tape::Mode::train) {
    tape_.collect_gradients(shared);
  }

  // batch must outlive backward. seed and update determine the noise.
  void forward(const Model& model,
               const Batch& batch,
               std::uint64_t seed,
               Index update,
               const Objective& objective);
  const OutputRows& rows() const { return rows_; }  // their loss must be computed before backward
  void backward(const Model& model, const Objective& objective);

  const Batch& batch() const { return *batch_; }
  const Tape& tape() const { return tape_; }
  const ExtraLoss& extra() const { return extra_; }  // after backward
  Index correct(Index sentence) const;               // number of symbols predicted correctly
  double nll(Index sentence) const;                  // summed over its symbols

 private:
  Tape tape_;
  const Batch* batch_ = nullptr;
  Noise noise_;
  Model::Taught taught_;
  OutputRows rows_;
  ExtraLoss extra_;
};

struct StepOptions {
  double clip_norm = 1;         // 0: no clipping
  bool clip_embeddings = true;  // the norm includes embeddings, which are scaled in any case
  enum class Loss { token, sentence, sum } loss = Loss::token;  // the divisor of the loss
  std::uint64_t seed = 0;  // of random numbers in training, such as dropout
  Precision precision = Precision::float32;
  Index groups = 1;  // groups of a batch, added in a tree; a multiple of the number of ranks
};

struct StepResult {
  double nll = 0;            // nats, summed over the target symbols of the batch
  double objective = 0;      // the minimised value
  Index tokens = 0;          // target symbols, with </s>
  Index correct = 0;         // symbols that were the most probable ones
  double gradient_norm = 0;  // before clipping
  Totals attention = {};     // as in ExtraLoss
};

class TrainingStep {
 public:
  TrainingStep(Model& model,
               const Optimizer& optimizer,
               const StepOptions& options,
               Workers& workers,
               Ranks& ranks = only_rank());

  using Parts = std::vector<Batch>;      // of a batch, or of a group of it
  using Group = std::span<const Parts>;  // one for each accumulated batch
  struct Size {
    Index tokens = 0;  // target symbols, with </s>
    Index sentences = 0;
  };

  // Makes update number `update` (from 1): forward, backward, reduction, clipping, optimiser. groups: this rank's
  // groups of the batches, computed one after the other. size: of all groups of all ranks. objective.factor multiplies
  // the loss of StepOptions::loss. If the loss or the gradient is not finite, nothing is updated, as the result shows.
  // Collective; all ranks have the same result.
  StepResult run_groups(std::span<const Group> groups,
                        Size size,
                        Index update,
                        double rate_factor = 1,
                        const Objective& objective = {});
  // Runs one group on one rank. batches: one batch, in parts, or several, whose gradients are summed.
  StepResult run(Group batches,
                 Index update,
                 double rate_factor = 1,
                 const Objective& objective = {});
  StepResult run(const Parts& batch,
                 Index update,
                 double rate_factor = 1,
                 const Objective& objective = {}) {
    return run({&batch, 1}, update, rate_factor, objective);
  }

  // Returns the first parameter whose gradient is not finite after the last run; empty if all are finite.
  std::string bad_parameter() const;
  // Returns the sentences whose loss is not finite, as indices of examples in the split.
  static std::vector<Index> bad_examples(Model& model, std::span<const Parts> batches);

  // Get and set buffer k of the optimiser, as large as the parameters (state() returns its bytes), for checkpoints.
  // Collective: the first rank returns or passes the buffer, the others an empty one.
  std::string state(std::size_t k) const;
  void set_state(std::size_t k, const std::vector<real>& numbers);
  std::size_t peak_bytes() const;  // of the parts' computations

 private:
  void differentiate(const Parts& parts, Index number, const Objective& objective);
  void add_results();
  struct Squares {
    double layers = 0, tables = 0;
  };
  Squares squares();
  void update(Index number, double rate_factor, double norm);

  Model& model_;
  const Optimizer& optimizer_;
  StepOptions options_;
  Workers& workers_;
  Ranks& ranks_;
  OwnedParameters owned_;
  OwnedParameters::Range dense_, tables_;  // that this rank updates
  WeightGradients weight_gradients_;
  TableGradients table_gradients_;
  GroupSum sum_;
  WeightPacks packs_;  // shared by all parts
  std::vector<std::unique_ptr<PartOfBatch>> parts_;
  std::vector<OutputRows> rows_;  // one per part
  std::vector<const Tape*> tapes_;
  Arena scratch_;
  StepResult result_;
  std::vector<StepResult> results_;       // of the groups
  std::vector<std::vector<real>> state_;  // the optimiser's buffers for dense_, then for tables_
};

// Returns a message for a step whose loss or gradient is not finite: "the loss is not a number in training sentence 3;
// the largest parameter, 'x.W', is at 1e+20"
std::string what_is_not_finite(const StepResult& result,
                               const TrainingStep& step,
                               Model& model,
                               std::span<const TrainingStep::Parts> batches);

}  // namespace softalign
