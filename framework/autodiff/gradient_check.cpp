#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace softalign {
namespace {

struct Slot {  // an array that is varied, and its analytic gradient
  std::string name;
  View value;
  const real* gradient;
};

// The weight of an output's number i in the loss, in [0.5, 1.5]: with equal weights, the loss of
// normalised rows would not depend on the input.
double weight_of(Index i) { return 1 + 0.5 * std::sin(static_cast<double>(i)); }

// A shorter step counts only if rounding hides less than this share of the gradient.
constexpr double kSharp = 0.25;

// Result of comparing a gradient with a difference quotient of the loss.
struct Difference {
  double numeric;
  double error;     // GradientCheck::worst
  double rounding;  // the part of the error attributed to rounding, in the same measure
};

// at(shift) returns the loss after a shift of the number.
Difference difference_of(double analytic,
                         double loss,
                         double largest,
                         const std::function<double(double)>& at,
                         double step) {
  const double above = (at(step) - loss) / step, below = (loss - at(-step)) / step;
  const double numeric = (above + below) / 2;
  // At a kink within the step the two one-sided quotients differ; the gradient is between them.
  const double away =
      std::max({0.0, analytic - std::max(above, below), std::min(above, below) - analytic});
  // The effect of rounding the loss on a difference quotient, which matters in float.
  const double rounding = 8 * std::numeric_limits<real>::epsilon() * loss / step;
  const double scale = std::max(1e-3 * largest, std::abs(analytic) + std::abs(numeric));
  return {numeric,
          std::max(0.0, std::min(away, std::abs(analytic - numeric)) - rounding) / scale,
          rounding / scale};
}

}  // namespace

GradientCheck check_gradients(
    const std::function<std::vector<Var>(Tape&, const std::vector<Var>&)>& f,
    std::vector<View> inputs,
    ParameterStore* parameters,
    Index samples,
    double step) {
  std::vector<std::vector<real>> input_gradients;
  for (View input : inputs) input_gradients.emplace_back(usize(input.size()), real{0});
  std::vector<real> gradients(usize(parameters == nullptr ? 0 : parameters->flat_size()), real{0});

  const auto outputs_on = [&](Tape& tape) {
    std::vector<Var> leaves;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      leaves.push_back(tape.leaf(inputs[i], tape.training() ? input_gradients[i].data() : nullptr));
    return f(tape, leaves);
  };
  const auto loss_of = [](const std::vector<Var>& outputs) {
    double sum = 0;
    for (Var output : outputs)
      for (Index i = 0; i < output.value().size(); ++i) {
        const double e = static_cast<double>(output.value().data[i]);
        sum += weight_of(i) * e * e;
      }
    return std::sqrt(sum);
  };

  Tape tape(Tape::Mode::train, parameters == nullptr ? nullptr : gradients.data());
  const std::vector<Var> outputs = outputs_on(tape);
  const double loss = loss_of(outputs);
  if (loss == 0) return {};  // the loss has no derivative where all outputs are 0
  // d loss / d e = w e / loss, seeded through one joint output so that backward runs once.
  Var joined = tape.record_if(tape.zeros({1}), true, [&outputs, loss](View) {
    for (Var output : outputs) {
      View gradient = output.gradient();
      if (!gradient) continue;
      for (Index i = 0; i < gradient.size(); ++i)
        gradient.data[i] +=
            static_cast<real>(weight_of(i) * static_cast<double>(output.value().data[i]) / loss);
    }
  });
  tape.backward(joined);

  std::vector<Slot> slots;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    slots.push_back({fmt::format("input {}", i), inputs[i], input_gradients[i].data()});
  if (parameters != nullptr)
    for (const Parameter& parameter : parameters->all())
      slots.push_back({parameter.name, parameter.value(), gradients.data() + parameter.offset});

  double largest = 0;
  for (const Slot& slot : slots)
    for (Index i = 0; i < slot.value.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(slot.gradient[i])));

  GradientCheck result;
  if (parameters != nullptr)
    for (const Parameter& parameter : parameters->all()) {
      const auto gradient = std::span(gradients).subspan(usize(parameter.offset));
      if (std::ranges::all_of(gradient.first(usize(parameter.value().size())),
                              [](real g) { return g == 0; }))
        result.idle.push_back(parameter.name);
    }
  for (const Slot& slot : slots) {
    const Index stride = std::max<Index>(1, slot.value.size() / samples);
    for (Index i = 0; i < slot.value.size(); i += stride) {
      const real kept = slot.value.data[i];
      const auto at = [&](double shift) {
        slot.value.data[i] = kept + static_cast<real>(shift);
        Tape forward(Tape::Mode::infer);
        const double shifted = loss_of(outputs_on(forward));
        slot.value.data[i] = kept;
        return shifted;
      };
      const double analytic = static_cast<double>(slot.gradient[i]);
      Difference best = difference_of(analytic, loss, largest, at, step);
      // If several kinks (relu, maxout) are within the step, a shorter step crosses fewer.
      for (const double shorter : {step / 4, step / 16})
        if (best.error > 0)
          if (const Difference d = difference_of(analytic, loss, largest, at, shorter);
              d.error < best.error && d.rounding < kSharp)
            best = d;
      ++result.checked;
      if (!(best.error <= result.worst) || result.where.empty()) {
        result.worst = best.error;
        result.where = fmt::format(
            "{}[{}]: analytic {:.9g}, numeric {:.9g}", slot.name, i, analytic, best.numeric);
      }
    }
  }
  return result;
}

}  // namespace softalign
