// One training step. A batch is cut into parts, as many as there are threads; each has its own tape and runs
// on one thread. What is summed over sentences is summed in their order: the bits depend neither on the cut
// nor on the threads.
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
  const OutputRows& rows() const { return rows_; }  // to be compared before backward
  void backward(const Model& model, const Objective& objective);

  const Batch& batch() const { return *batch_; }
  const Tape& tape() const { return tape_; }
  const ExtraLoss& extra() const { return extra_; }  // after backward
  Index correct(Index sentence) const;               // symbols of it whose prediction is right
  double nll(Index sentence) const;                  // of all its symbols

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
  bool clip_embeddings = true;  // the norm is that of embeddings too, which are scaled either way
  enum class Loss { token, sentence, sum } loss = Loss::token;  // the divisor of the loss
  std::uint64_t seed = 0;  // of random numbers in training, such as dropout
  Precision precision = Precision::float32;
  Index groups = 1;  // of a batch, whose gradients are added in a tree; a multiple of the ranks
};

struct StepResult {
  double nll = 0;            // nats, summed over the target symbols of the batch
  double objective = 0;      // the minimised value
  Index tokens = 0;          // target symbols, with </s>
  Index correct = 0;         // the most probable symbol is the right one
  double gradient_norm = 0;  // before clipping
  Totals attention = {};     // ExtraLoss
};

class TrainingStep {
 public:
  TrainingStep(Model& model,
               const Optimizer& optimizer,
               const StepOptions& options,
               Workers& workers,
               Ranks& ranks = only_rank());

  using Parts = std::vector<Batch>;      // of a batch, or of a group of it
  using Group = std::span<const Parts>;  // one for each of the batches that are accumulated
  struct Size {
    Index tokens = 0;  // target symbols, with </s>
    Index sentences = 0;
  };

  // Forward, backward, reduction, clipping and update number `update` (from 1), of batches that are cut into
  // groups: this rank's, one after the other. size: of all groups of all ranks. objective.factor multiplies the loss
  // of StepOptions::loss. If the loss or the gradient is not finite, nothing is updated, and the result says so.
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

  // The first parameter whose gradient is not finite after the last run; empty when all are.
  std::string bad_parameter() const;
  // Sentences whose loss is not finite, as examples of the split.
  static std::vector<Index> bad_examples(Model& model, std::span<const Parts> batches);

  // Buffer k of the optimiser, as large as the parameters, for checkpoints; as bytes. Both functions are collective: the first
  // rank has the numbers; those of the others are empty.
  std::string state(std::size_t k) const;
  void set_state(std::size_t k, const std::vector<real>& numbers);
  std::size_t peak_bytes() const;  // of the computations of parts

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
  WeightPacks packs_;  // for all parts
  std::vector<std::unique_ptr<PartOfBatch>> parts_;
  std::vector<OutputRows> rows_;  // one per part
  std::vector<const Tape*> tapes_;
  Arena scratch_;
  StepResult result_;
  std::vector<StepResult> results_;       // of the groups
  std::vector<std::vector<real>> state_;  // the optimiser's buffers for dense_, then for tables_
};

// A message for a step whose loss or gradient is not finite: "the loss is not a number in training sentence 3;
// the largest parameter, 'x.W', is at 1e+20"
std::string what_is_not_finite(const StepResult& result,
                               const TrainingStep& step,
                               Model& model,
                               std::span<const TrainingStep::Parts> batches);

}  // namespace softalign
