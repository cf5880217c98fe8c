#include "framework/eval/scorer.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign {
namespace {

View log_sums_of(Tape& tape, View logits) {
  const View sums = tape.allocate({logits.shape[0]});
  kernels::log_sum_exp(logits.shape[0], logits.shape[1], logits.data, sums.data);
  return sums;
}

// x[row] -= sums[row]
void normalise(View x, View sums) {
  for (Index row = 0; row < x.shape[0]; ++row)
    for (Index v = 0; v < x.shape[1]; ++v) x.data[row * x.shape[1] + v] -= sums.data[row];
}

// Returns the log of the mean of exp(x), computed relative to the largest x to avoid underflow.
real log_mean_exp(std::span<const View> parts, Index i) {
  real largest = parts[0].data[i], sum = 0;
  for (const View part : parts) largest = std::max(largest, part.data[i]);
  if (!std::isfinite(largest)) return largest;
  for (const View part : parts) sum += vector_exp(part.data[i] - largest);
  return largest + exact::log(sum / static_cast<real>(parts.size()));
}

// Extends the logits [B,V] of a model that copies nothing to the columns of a model that copies.
View widened(Tape& tape, View logits, Index columns) {
  const Index symbols = logits.shape[1];
  if (symbols == columns) return logits;
  const View wide = tape.allocate({logits.shape[0], columns});
  std::ranges::fill(wide, kImpossible);
  for (Index row = 0; row < wide.shape[0]; ++row)
    std::copy_n(logits.data + row * symbols, symbols, wide.data + row * columns);
  return wide;
}

real mean(std::span<const View> parts, Index i) {
  real sum = 0;
  for (const View part : parts) sum += part.data[i];
  return sum / static_cast<real>(parts.size());
}

}  // namespace

Scorer::Scorer(std::vector<const Model*> models, Mean mean)
    : models_(std::move(models)), mean_(mean) {
  if (models_.empty()) throw BugError("[scorer] no model");
  for (const Model* model : models_)
    if (model->target_symbols() != target_symbols())
      throw SpecError("an ensemble's models must have the same vocabularies: {} and {} symbols",
                      target_symbols(),
                      model->target_symbols());
  const auto copies = [](const Model* model) { return model->output_layer().copies(); };
  if (mean == Mean::log_probabilities && std::ranges::any_of(models_, copies) &&
      !std::ranges::all_of(models_, copies))
    throw SpecError(
        "an ensemble by log probabilities must have models that all copy or none: a copied word "
        "has "
        "the probability 0 in the others; take the mean of probabilities");
}

bool Scorer::aligns() const { return first_aligning() < models_.size(); }

BatchParts Scorer::batch_parts() const {
  BatchParts all;
  for (const Model* model : models_) {
    const BatchParts parts = model->batch_parts();
    all.links |= parts.links;
    if (all.copies == nullptr) all.copies = parts.copies;
  }
  return all;
}

std::size_t Scorer::first_aligning() const {
  const auto aligns = [](const Model* model) { return model->aligns(); };
  return usize(std::find_if(models_.begin(), models_.end(), aligns) - models_.begin());
}

std::vector<Model::Source> Scorer::read(Tape& tape, const SourceBatch& source) const {
  std::vector<Model::Source> sources;
  for (const Model* model : models_) sources.push_back(model->read(tape, source));
  return sources;
}

std::span<const Index> Scorer::positions(std::span<const Model::Source> sources) const {
  return sources[aligns() ? first_aligning() : 0].memory.lengths;
}

Scorer::Prediction Scorer::predict(Tape& tape,
                                   std::span<const Model::Source> now,
                                   std::span<const Token> previous) const {
  const auto count = static_cast<Index>(models_.size());
  State* next = tape.arena().array_of<State>(count);
  View* parts = tape.arena().array_of<View>(count);
  View* weights = tape.arena().array_of<View>(count);
  std::size_t aligning = 0;
  Index columns = 0;
  Prediction result;
  result.next = {next, models_.size()};
  const std::span<const Index> positions = this->positions(now);
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const Model::Prediction one = models_[m]->predict(tape, now[m], previous);
    next[m] = one.next;
    parts[m] = one.logits.value();
    columns = std::max(columns, parts[m].shape[1]);
    if (!one.weights || !std::ranges::equal(now[m].memory.lengths, positions)) continue;
    if (aligning == 0 || one.weights.shape() == weights[0].shape)
      weights[aligning++] = one.weights.value();
  }
  if (aligning > 0) result.weights = weights[0];
  result.logits = parts[0];
  result.log_sums = log_sums_of(tape, result.logits);
  if (count == 1) return result;

  for (std::size_t m = 0; m < models_.size(); ++m) parts[m] = widened(tape, parts[m], columns);
  normalise(parts[0], result.log_sums);
  for (std::size_t m = 1; m < models_.size(); ++m) normalise(parts[m], log_sums_of(tape, parts[m]));
  const std::span<const View> all(parts, models_.size());
  result.logits = tape.allocate(parts[0].shape);
  const bool of_probabilities = mean_ == Mean::probabilities;
  for (Index i = 0; i < result.logits.size(); ++i)
    result.logits.data[i] = of_probabilities ? log_mean_exp(all, i) : mean(all, i);
  if (of_probabilities)
    result.log_sums = tape.zeros(result.log_sums.shape);
  else
    result.log_sums = log_sums_of(tape, result.logits);
  if (aligning < 2) return result;
  result.weights = tape.allocate(weights[0].shape);
  for (Index i = 0; i < result.weights.size(); ++i)
    result.weights.data[i] = mean({weights, aligning}, i);
  return result;
}

}  // namespace softalign
