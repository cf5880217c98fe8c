#include "framework/seq/decoder.hpp"
#include "framework/base/types.hpp"

#include <algorithm>

namespace softalign {

StepByStep::StepByStep(Tape& tape, Index steps)
    : tape_(tape), steps_(steps), weights_(tape.arena().array_of<Var>(steps)) {}

void StepByStep::push(const DecoderStep& step) {
  if (done_ == 0) {
    parts_ = std::ssize(step.output);
    outputs_ = tape_.arena().array_of<Var>(steps_ * parts_);
  }
  std::copy(step.output.begin(), step.output.end(), outputs_ + done_ * parts_);
  weights_[done_++] = step.weights;
}

Unrolled StepByStep::all() const {
  Unrolled all{stack_steps({outputs_, usize(steps_ * parts_)}, parts_), {}};
  if (weights_[0]) all.weights = {weights_, usize(steps_)};
  return all;
}

// Time steps are stored one after another, [T,B,...]: all sentences at one position are one array.
Unrolled Decoder::unroll(const AttentionMemory& memory, State state, Var&& inputs) const {
  Tape& tape = inputs.tape();
  const std::span<const Var> steps = unstack_steps(std::move(inputs));
  StepByStep all(tape, std::ssize(steps));
  for (Index t = 0; t < std::ssize(steps); ++t) {
    state.step = t;
    const DecoderStep now = step(memory, state, steps[usize(t)]);
    all.push(now);
    state = now.next;
  }
  return all.all();
}

}  // namespace softalign
