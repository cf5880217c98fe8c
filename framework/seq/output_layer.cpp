#include "framework/seq/output_layer.hpp"

#include <algorithm>

#include "framework/base/types.hpp"

namespace softalign {

OutputRows output_rows(const OutputLayer& layer,
                       const OutputInput& input,
                       std::span<const Token> targets,
                       const Objective& objective) {
  Tape& tape = input.readout.tape();
  const State inputs = layer.prepare(input);
  for (Var one : inputs) one.gradient();  // allocated here, before the loss adds to it
  const Index rows = std::ssize(targets);
  real* const nll = tape.zeros({rows}).data;
  real* const uniform = objective.label_smoothing > 0 ? tape.zeros({rows}).data : nullptr;
  Token* const best = tape.arena().array_of<Token>(rows);
  std::fill_n(best, rows, Token{-1});
  return {inputs, input.memory.source, targets, nll, uniform, best};
}

real sentence_loss(const OutputRows& part, Index sentence, const Objective& objective) {
  const SentenceRows rows = sentence_rows(part.inputs[0].value());
  const auto share = static_cast<double>(objective.label_smoothing);
  double total = 0, spread = 0;
  for (Index s = 0; s < rows.positions; ++s) {
    const Index at = (rows.row(sentence, s) - rows.data) / rows.columns;
    if (part.targets[usize(at)] < 0) continue;
    total += static_cast<double>(part.nll[at]);
    if (share > 0) spread += static_cast<double>(part.uniform[at]);
  }
  if (share > 0) total = (1 - share) * total + share * spread;
  return static_cast<real>(static_cast<double>(objective.factor) * total);
}

TokenLosses losses_of(const OutputLayer& layer,
                      const OutputRows& part,
                      const Objective& objective) {
  const Var first = part.inputs[0];
  Tape& tape = first.tape();
  const auto gradient = [&](const Parameter& parameter) {
    return tape.training() ? tape.whole_gradient(tape.parameter(parameter)) : nullptr;
  };
  Workers alone(1);
  // The gradient arena is nearly empty now, unlike the tape's other arena.
  layer.loss({&part, 1}, objective, gradient, alone, tape.gradient_arena());
  const View losses = tape.allocate({first.shape().sentences()});
  for (Index b = 0; b < losses.size(); ++b) losses.data[b] = sentence_loss(part, b, objective);
  const Var loss = tape.record_if(losses, true, [](View dlosses) {
    for (const real d : dlosses)
      if (d != 1)
        throw BugError(
            "[output_layer] the gradient of its loss must be 1, not {}: scale with `factor`", d);
  });
  return {loss, {part.nll, part.targets.size()}, {part.best, part.targets.size()}};
}

void projected_loss(const Projection& projection,
                    std::span<const OutputRows> parts,
                    const Objective& objective,
                    const GradientOf& gradient,
                    Workers& workers,
                    Arena& scratch,
                    const RowLoss* row_loss) {
  const Arena::Mark mark = scratch.mark();
  const auto count = std::ssize(parts);
  ProjectedRows* rows = scratch.array_of<ProjectedRows>(count);
  for (Index i = 0; i < count; ++i) {
    const OutputRows& part = parts[usize(i)];
    const Var input = part.inputs[0];
    rows[i] = {
        input.value(), part.targets, input.gradient().data, part.nll, part.uniform, part.best};
  }
  project_and_compare({rows, usize(count)},
                      {projection.weight(),
                       projection.bias().data,
                       objective.factor,
                       objective.label_smoothing,
                       gradient(projection.weight_parameter()),
                       gradient(projection.bias_parameter()),
                       row_loss},
                      workers,
                      scratch);
  scratch.rewind(mark);
}

}  // namespace softalign
