#include "framework/train/part.hpp"

namespace softalign {

void PartOfBatch::forward(const Model& model,
                          const Batch& batch,
                          std::uint64_t seed,
                          Index update,
                          const Objective& objective) {
  tape_.reset();
  batch_ = &batch;
  extra_ = {};
  noise_ = {seed, static_cast<std::uint64_t>(update), batch.example};
  tape_.set_noise(&noise_);
  taught_ = model.teach(tape_, batch, objective);
  rows_ = output_rows(model.output_layer(), taught_.output(), taught_.targets, objective);
}

void PartOfBatch::backward(const Model& model, const Objective& objective) {
  extra_ = model.extra_loss(tape_, taught_, *batch_, {rows_.nll, rows_.targets.size()}, objective);
  if (extra_.loss)
    tape_.backward(extra_.loss);
  else
    tape_.backward();
  tape_.set_noise(nullptr);
}

Index PartOfBatch::correct(Index sentence) const {
  Index count = 0;
  for (Index t = 0; t < batch_->target_lengths[usize(sentence)]; ++t) {
    const Index at = t * batch_->rows + sentence;
    count += rows_.best[at] == rows_.targets[usize(at)];
  }
  return count;
}

double PartOfBatch::nll(Index sentence) const {
  double sum = 0;
  for (Index t = 0; t < batch_->target_lengths[usize(sentence)]; ++t)
    sum += static_cast<double>(rows_.nll[t * batch_->rows + sentence]);
  return sum;
}

}  // namespace softalign
