#include "framework/seq/decoder.hpp"

namespace softalign {

// Time steps lie behind one another, [T,B,...]: those of all sentences at one position are one array.
Unrolled Decoder::unroll(const Memory& memory, State state, Var&& inputs) const {
  Tape& tape = inputs.tape();
  const std::span<const Var> steps = unstack_steps(std::move(inputs));
  const Index count = std::ssize(steps);
  Var* weights = tape.arena().array_of<Var>(count);
  Var* outputs = nullptr;
  Index parts = 0;
  for (Index t = 0; t < count; ++t) {
    state.step = t;
    const DecoderStep now = step(memory, state, steps[static_cast<std::size_t>(t)]);
    if (t == 0) {
      parts = std::ssize(now.output);
      outputs = tape.arena().array_of<Var>(count * parts);
    }
    std::copy(now.output.begin(), now.output.end(), outputs + t * parts);
    weights[t] = now.weights;
    state = now.next;
  }
  Unrolled all{stack_steps({outputs, static_cast<std::size_t>(count * parts)}, parts), {}};
  if (aligns()) all.weights = {weights, static_cast<std::size_t>(count)};
  return all;
}

}  // namespace softalign
