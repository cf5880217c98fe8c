// Words for a step whose loss or gradient is not finite.
#pragma once

#include <string>
#include <vector>

#include "framework/train/step.hpp"

namespace softalign {

// "the loss is not a number in training sentence 3; the largest parameter, 'x.W', is at 1e+20"
std::string what_is_not_finite(const StepResult& result,
                               const TrainingStep& step,
                               Model& model,
                               std::span<const TrainingStep::Parts> batches);

}  // namespace softalign
