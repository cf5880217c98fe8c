#include "framework/train/step.hpp"
#include "framework/base/types.hpp"

#include <algorithm>
#include <cmath>

namespace softalign {
namespace {

constexpr Index kChunk = 1 << 14;  // numbers that are updated in one piece

Index chunks(Index numbers) { return (numbers + kChunk - 1) / kChunk; }

}  // namespace

TrainingStep::TrainingStep(Model& model,
                           const Optimizer& optimizer,
                           const StepOptions& options,
                           Workers& workers)
    : model_(model),
      optimizer_(optimizer),
      options_(options),
      workers_(workers),
      weight_gradients_(model.parameters()),
      table_gradients_(model.parameters()) {
  const ParameterStore& store = model.parameters();
  for (Index i = 0; i < std::min<Index>(options.shards, workers.threads()); ++i) {
    tapes_.push_back(std::make_unique<Tape>(Tape::Mode::train));
    tapes_.back()->collect_gradients(packs_);
  }
  for (const std::string& name : optimizer.state())
    state_.push_back({name, std::vector<real>(usize(store.flat_size()))});
}

StepResult TrainingStep::run(const std::vector<Batch>& shards,
                             Index number,
                             double rate_factor,
                             const Objective& objective) {
  Index tokens = 0, sentences = 0;
  for (const Batch& shard : shards) {
    sentences += shard.rows;
    for (Index length : shard.target_lengths) tokens += length;
  }
  const Index divisor = options_.loss == StepOptions::Loss::token      ? tokens
                        : options_.loss == StepOptions::Loss::sentence ? sentences
                                                                       : 1;
  Objective scaled = objective;
  scaled.factor *= real{1} / static_cast<real>(std::max<Index>(1, divisor));

  results_.assign(shards.size(), {});
  weight_gradients_.clear(workers_);
  table_gradients_.clear();
  packs_.forget();
  for (std::size_t first = 0; first < shards.size(); first += tapes_.size()) {
    const std::size_t count = std::min(tapes_.size(), shards.size() - first);
    workers_.run(static_cast<Index>(count), [&](Index i) {
      const auto k = usize(i);
      results_[first + k] =
          run_shard(model_, *tapes_[k], shards[first + k], options_.seed, number, scaled);
    });
    const std::span now(tapes_.data(), count);
    weight_gradients_.add(now, workers_);
    table_gradients_.add(now, workers_);
  }

  StepResult total;
  total.tokens = tokens;
  for (const StepResult& result : results_) {
    total.nll += result.nll;
    total.objective += result.objective;
    for (std::size_t k = 0; k < total.attention.size(); ++k)
      total.attention[k] += result.attention[k];
    total.correct += result.correct;
  }
  const double of_layers = weight_gradients_.sum_of_squares(workers_),
               of_tables = table_gradients_.sum_of_squares(workers_);
  total.gradient_norm = std::sqrt(of_layers + of_tables);
  if (std::isfinite(total.nll) && std::isfinite(total.gradient_norm)) {
    update(
        number, rate_factor, options_.clip_embeddings ? total.gradient_norm : std::sqrt(of_layers));
    model_.after_update(total.attention);
  }
  return total;
}

StepResult TrainingStep::run_shard(const Model& model,
                                   Tape& tape,
                                   const Batch& shard,
                                   std::uint64_t seed,
                                   Index update,
                                   const Objective& objective) {
  tape.reset();
  StepResult result;
  if (shard.rows == 0) return result;
  const Noise noise{seed, static_cast<std::uint64_t>(update), shard.example};
  tape.set_noise(&noise);
  const Model::Forward forward = model.forward(tape, shard, objective);
  result.attention = forward.attention_totals;
  for (real nll : forward.losses.nll) result.nll += static_cast<double>(nll);
  for (std::size_t k = 0; k < forward.losses.best.size(); ++k)
    result.correct += forward.losses.best[k] >= 0 && forward.losses.best[k] == shard.target_out[k];
  result.objective = static_cast<double>(forward.losses.loss.value().data[0]);
  if (std::isfinite(result.nll)) tape.backward(forward.losses.loss);
  tape.set_noise(nullptr);
  return result;
}

// norm: what clipping looks at.
void TrainingStep::update(Index number, double rate_factor, double norm) {
  const Index dense = model_.parameters().dense_size(), size = model_.parameters().trained_size();
  const double most = options_.clip_norm;
  const real scale = most > 0 && norm > most ? static_cast<real>(most / norm) : real{1};
  const auto apply = [&](Index begin, Index count, const real* gradient) {
    real* state[8] = {};
    for (std::size_t k = 0; k < state_.size(); ++k) state[k] = state_[k].numbers.data() + begin;
    optimizer_.apply(count,
                     {number, scale, rate_factor},
                     gradient,
                     model_.parameters().values() + begin,
                     {state, state_.size()});
  };
  const Index of_layers = chunks(dense), of_tables = chunks(size - dense);
  workers_.run(of_layers + of_tables, [&](Index chunk) {
    if (chunk < of_layers) {
      const Index begin = chunk * kChunk;
      apply(begin, std::min(kChunk, dense - begin), weight_gradients_.data() + begin);
      return;
    }
    alignas(64) real gradient[kChunk];
    const Index begin = dense + (chunk - of_layers) * kChunk,
                count = std::min(kChunk, size - begin);
    if (!table_gradients_.read(begin, count, gradient)) {
      if (optimizer_.rests_without_gradient()) return;
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

std::vector<Index> TrainingStep::bad_examples(Model& model, const std::vector<Batch>& shards) {
  std::vector<Index> bad;
  for (const Batch& shard : shards) {
    if (shard.rows == 0) continue;
    Tape tape(Tape::Mode::infer);
    const Model::Forward forward = model.forward(tape, shard, 1);
    for (Index b = 0; b < shard.rows; ++b) {
      double nll = 0;
      for (Index t = 0; t < shard.target_steps; ++t)
        nll += static_cast<double>(forward.losses.nll[usize(b * shard.target_steps + t)]);
      if (!std::isfinite(nll)) bad.push_back(shard.example[usize(b)]);
    }
  }
  std::sort(bad.begin(), bad.end());
  return bad;
}

std::size_t TrainingStep::peak_bytes() const {
  std::size_t sum = packs_.peak_bytes();
  for (const auto& tape : tapes_) sum += tape->peak_bytes();
  return sum;
}

}  // namespace softalign
