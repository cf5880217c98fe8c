#include "framework/train/step.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/arena.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

constexpr Index kUpdatedChunk = 1 << 14;  // numbers that are updated in one piece

Index chunks(Index numbers) { return (numbers + kUpdatedChunk - 1) / kUpdatedChunk; }

}  // namespace

TrainingStep::TrainingStep(Model& model,
                           const Optimizer& optimizer,
                           const StepOptions& options,
                           Workers& workers)
    : model_(model),
      optimizer_(optimizer),
      options_(options),
      workers_(workers),
      weight_gradients_(model.parameters(), workers.threads()),
      table_gradients_(model.parameters()) {
  for (const std::string& name : optimizer.state())
    state_.push_back({name, zeros_in_large_pages(model.parameters().flat_size())});
}

StepResult TrainingStep::run(std::span<const Parts> batches,
                             Index number,
                             double rate_factor,
                             const Objective& objective) {
  const ProductPrecision precision(options_.precision);
  Index tokens = 0, sentences = 0;
  for (const Parts& parts : batches)
    for (const Batch& part : parts) {
      sentences += part.rows;
      for (Index length : part.target_lengths) tokens += length;
    }
  const Index divisor = options_.loss == StepOptions::Loss::token      ? tokens
                        : options_.loss == StepOptions::Loss::sentence ? sentences
                                                                       : 1;
  Objective scaled = objective;
  scaled.factor *= real{1} / static_cast<real>(std::max<Index>(1, divisor));

  result_ = {};
  result_.tokens = tokens;
  weight_gradients_.clear(workers_);
  table_gradients_.clear();
  packs_.forget();
  for (const Parts& parts : batches) differentiate(parts, number, scaled);
  const double of_layers = weight_gradients_.sum_of_squares(workers_),
               of_tables = table_gradients_.sum_of_squares(workers_);
  result_.gradient_norm = std::sqrt(of_layers + of_tables);
  if (std::isfinite(result_.nll) && std::isfinite(result_.gradient_norm)) {
    update(number,
           rate_factor,
           options_.clip_embeddings ? result_.gradient_norm : std::sqrt(of_layers));
    model_.after_update(result_.attention);
  }
  return result_;
}

// Forward up to the output layer, then its loss for all parts together, then backward.
void TrainingStep::differentiate(const Parts& batches, Index number, const Objective& objective) {
  const auto count = std::ssize(batches);
  while (std::ssize(parts_) < count) parts_.push_back(std::make_unique<PartOfBatch>(packs_));
  const std::span parts(parts_.data(), usize(count));
  workers_.run(count, [&](Index i) {
    parts[usize(i)]->forward(model_, batches[usize(i)], options_.seed, number, objective);
  });
  rows_.clear();
  for (const auto& part : parts) rows_.push_back(part->rows());
  const auto gradient = [this](const Parameter& parameter) {
    return parameter.trained ? weight_gradients_.data() + parameter.offset : nullptr;
  };
  model_.output_layer().loss(rows_, objective, gradient, workers_, scratch_);

  for (const auto& part : parts)
    for (Index b = 0; b < part->batch().rows; ++b) {
      result_.nll += part->nll(b);
      result_.correct += part->correct(b);
      result_.objective += static_cast<double>(sentence_loss(part->rows(), b, objective));
    }
  if (!std::isfinite(result_.nll)) return;
  workers_.run(count, [&](Index i) { parts[usize(i)]->backward(model_, objective); });
  for (const auto& part : parts) {
    const ExtraLoss& extra = part->extra();
    for (Index b = 0; extra.loss && b < part->batch().rows; ++b)
      result_.objective += static_cast<double>(extra.loss.value().data[b]);
    for (const Totals& totals : extra.totals)
      for (std::size_t k = 0; k < totals.size(); ++k) result_.attention[k] += totals[k];
  }
  tapes_.clear();
  for (const auto& part : parts) tapes_.push_back(&part->tape());
  weight_gradients_.add(tapes_, workers_);
  table_gradients_.add(tapes_, workers_);
}

// norm: the norm that clipping uses.
void TrainingStep::update(Index number, double rate_factor, double norm) {
  const Index dense = model_.parameters().dense_size(), size = model_.parameters().trained_size();
  const double most = options_.clip_norm;
  const real scale = most > 0 && norm > most ? static_cast<real>(most / norm) : real{1};
  const double decay = rate_factor * optimizer_.learning_rate() * optimizer_.weight_decay();
  const real kept = static_cast<real>(1 - decay);
  const auto apply = [&](Index begin, Index count, const real* gradient) {
    real* const values = model_.parameters().values() + begin;
    if (decay > 0)
      for (Index i = 0; i < count; ++i) values[i] *= kept;
    real* state[8] = {};
    for (std::size_t k = 0; k < state_.size(); ++k) state[k] = state_[k].numbers.data() + begin;
    optimizer_.apply(count, {number, scale, rate_factor}, gradient, values, {state, state_.size()});
  };
  const Index of_layers = chunks(dense), of_tables = chunks(size - dense);
  workers_.run(of_layers + of_tables, [&](Index chunk) {
    if (chunk < of_layers) {
      const Index begin = chunk * kUpdatedChunk;
      apply(begin, std::min(kUpdatedChunk, dense - begin), weight_gradients_.data() + begin);
      return;
    }
    alignas(64) real gradient[kUpdatedChunk];
    const Index begin = dense + (chunk - of_layers) * kUpdatedChunk,
                count = std::min(kUpdatedChunk, size - begin);
    if (!table_gradients_.read(begin, count, gradient)) {
      if (decay == 0 && optimizer_.rests_without_gradient()) return;
      std::fill_n(gradient, count, real{0});
    }
    apply(begin, count, gradient);
  });
}

std::string TrainingStep::bad_parameter() const {
  for (const Parameter& parameter : model_.parameters().all()) {
    std::vector<real> gradient(usize(parameter.shape.size()));
    if (!parameter.trained) continue;
    if (parameter.table)
      table_gradients_.read(parameter.offset, parameter.shape.size(), gradient.data());
    else
      std::copy_n(weight_gradients_.data() + parameter.offset, gradient.size(), gradient.begin());
    for (real number : gradient)
      if (!std::isfinite(number)) return parameter.name;
  }
  return "";
}

std::vector<Index> TrainingStep::bad_examples(Model& model, std::span<const Parts> batches) {
  std::vector<Index> bad;
  for (const Parts& parts : batches)
    for (const Batch& part : parts) {
      Tape tape(Tape::Mode::infer);
      const Model::Forward forward = model.forward(tape, part, 1);
      for (Index b = 0; b < part.rows; ++b) {
        double nll = 0;
        for (Index t = 0; t < part.target_steps; ++t)
          nll += static_cast<double>(forward.losses.nll[usize(b * part.target_steps + t)]);
        if (!std::isfinite(nll)) bad.push_back(part.example[usize(b)]);
      }
    }
  std::sort(bad.begin(), bad.end());
  return bad;
}

std::size_t TrainingStep::peak_bytes() const {
  std::size_t sum = packs_.peak_bytes() + scratch_.peak();
  for (const auto& part : parts_) sum += part->tape().peak_bytes();
  return sum;
}

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

namespace {

// " in training sentences 3, 8 and 6 others": indices among the kept sentences, from 1.
std::string sentences_text(const std::vector<Index>& examples) {
  constexpr std::size_t kShown = 5;
  if (examples.empty()) return "";
  std::string text = examples.size() == 1 ? " in training sentence" : " in training sentences";
  for (std::size_t i = 0; i < std::min(examples.size(), kShown); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : ",", examples[i] + 1);
  if (examples.size() > kShown) text += fmt::format(" and {} others", examples.size() - kShown);
  return text;
}

// The first parameter that is not finite, or else the one that has grown most.
std::string suspect(const ParameterStore& parameters) {
  const Parameter* largest = nullptr;
  real most = -1;
  for (const Parameter& parameter : parameters.all())
    for (const real x : parameter.value()) {
      if (!std::isfinite(x)) return fmt::format("parameter '{}' is not finite", parameter.name);
      if (std::abs(x) <= most) continue;
      most = std::abs(x);
      largest = &parameter;
    }
  return fmt::format("the largest parameter, '{}', is at {:.3g}", largest->name, most);
}

}  // namespace

std::string what_is_not_finite(const StepResult& result,
                               const TrainingStep& step,
                               Model& model,
                               std::span<const TrainingStep::Parts> batches) {
  if (std::isfinite(result.nll))
    return fmt::format("the gradient of parameter '{}' is not finite", step.bad_parameter());
  return fmt::format("the loss is {}{}; {}",
                     std::isnan(result.nll) ? "not a number" : "infinite",
                     sentences_text(TrainingStep::bad_examples(model, batches)),
                     suspect(model.parameters()));
}

}  // namespace softalign
