// A part of a batch on its tape: forward up to the output layer's loss, which all parts share
// (seq/output_layer.hpp), and backward.
#pragma once

#include "framework/seq/model.hpp"

namespace softalign {

class PartOfBatch {
 public:
  explicit PartOfBatch(WeightPacks& shared) : tape_(Tape::Mode::train) {
    tape_.collect_gradients(shared);
  }

  // batch must outlive backward. seed and update are those of the noise.
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

}  // namespace softalign
