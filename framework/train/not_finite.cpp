#include "framework/train/not_finite.hpp"

#include <algorithm>
#include <cmath>

namespace softalign {
namespace {

// " in training sentences 3, 8 and 6 others": positions among those that are kept, from 1.
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
