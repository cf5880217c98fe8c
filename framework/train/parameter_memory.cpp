#include "framework/train/parameter_memory.hpp"

#include <algorithm>
#include <bit>

#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

constexpr double kBytes = sizeof(real);  // of a number

}  // namespace

ParameterBytes parameters_of(const Model& model, Index symbols_of_batch) {
  ParameterBytes bytes;
  bytes.all = kBytes * static_cast<double>(model.parameters().flat_size());
  for (const Parameter& one : model.parameters().all()) {
    const auto numbers = static_cast<double>(one.shape.size());
    if (one.table)
      bytes.tables += kBytes * static_cast<double>(std::min(one.shape[0], symbols_of_batch)) *
                      static_cast<double>(one.shape[1]);
    else if (one.trained)
      bytes.dense += kBytes * numbers;
  }
  return bytes;
}

double copies_of_average(const Spec& spec) {
  if (!spec.train.average) return 0;
  const AverageOptions& average = *spec.train.average;
  if (average.type == "exponential") return 1;
  const bool each_epoch = !average.every && !spec.evaluate.every;
  const Index kept = each_epoch ? std::min(average.epochs, spec.train.epochs) : average.epochs;
  return static_cast<double>(kept);
}

int sums_of_groups(const TrainOptions& train, int ranks) {
  const auto own = static_cast<std::uint64_t>(train.groups.value_or(1) / ranks);
  return static_cast<int>(std::bit_width(own)) - 1;
}

double copies_of_optimizer(const TrainOptions& train) {
  return static_cast<double>(make_plugin<OptimizerKind>(train.optimizer)->state().size());
}

}  // namespace softalign
