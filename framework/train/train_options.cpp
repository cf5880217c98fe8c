#include "framework/train/train_options.hpp"

#include <algorithm>
#include <cmath>

#include "framework/base/elementary.hpp"

namespace softalign {
namespace {

// Bengio et al. 2015, section 2.4.
double probability_of_truth(const ScheduledSamplingOptions& options, Index updates) {
  const double u = static_cast<double>(updates);
  if (options.type == "linear") return std::max(options.least, options.k - options.slope * u);
  if (options.type == "exponential") return exact::pow(options.k, u);
  return options.k / (options.k + exact::exp(u / options.k));
}

}  // namespace

Objective objective_at(const TrainOptions& options, Index updates, Index epoch) {
  Objective objective;
  objective.label_smoothing = static_cast<real>(options.label_smoothing.value_or(0));
  objective.doubly_stochastic = static_cast<real>(options.doubly_stochastic.value_or(0));
  objective.coverage = static_cast<real>(options.coverage.value_or(0));
  if (options.guided_alignment)
    objective.guided_alignment =
        static_cast<real>(options.guided_alignment->weight *
                          exact::pow(options.guided_alignment->decay, static_cast<double>(epoch)));
  if (options.scheduled_sampling) {
    objective.truth = probability_of_truth(*options.scheduled_sampling, updates);
    objective.argmax = options.scheduled_sampling->feed == "argmax";
  }
  return objective;
}

bool adds_to_loss(const TrainOptions& options) {
  return options.label_smoothing || options.doubly_stochastic || options.coverage ||
         options.guided_alignment;
}

StepOptions step_options(const TrainOptions& options, std::uint64_t seed) {
  const std::string loss = options.loss.value_or("token");
  return {options.clip_norm,
          options.clip_scope.value_or("all") == "all",
          loss == "sum"        ? StepOptions::Loss::sum
          : loss == "sentence" ? StepOptions::Loss::sentence
                               : StepOptions::Loss::token,
          seed,
          options.precision.value_or("float32") == "bfloat16" ? Precision::bfloat16
                                                              : Precision::float32,
          options.groups.value_or(1)};
}

void check_training(const TrainOptions& options, const Model& model) {
  for (const auto& [given, name] :
       {std::pair(options.doubly_stochastic.has_value(), "doubly_stochastic"),
        {options.coverage.has_value(), "coverage"},
        {options.guided_alignment.has_value(), "guided_alignment"}})
    if (given && !model.learns_weights())
      throw SpecError("train.{}: the model has no attention weights to train; remove it", name);
  if (options.scheduled_sampling && !model.steps())
    throw SpecError(
        "train.scheduled_sampling: this decoder trains on all target positions at once and cannot "
        "read its own symbols; remove it or choose a recurrent decoder");
}

}  // namespace softalign
