// Rematerialisation: discards the intermediate values of a computation and recomputes them in
// backward, which trades a second forward pass for their memory (Chen et al. 2016). The bits of the
// value and the gradient do not change.
#pragma once

#include <array>

#include "framework/autodiff/tape.hpp"

namespace softalign {

// f: array<Var, N> -> Var is a pure function of its inputs, some of which may be empty, and of parameters, built from
// operations on the tape of its inputs. If an evaluation takes at most `keep_bytes` on the tape, it is recorded
// directly.
template <std::size_t N, class F>
Var rematerialize(Tape& tape, std::array<Var, N> inputs, std::size_t keep_bytes, F f) {
  for (Var input : inputs)
    if (input)
      input
          .value();  // marks it as read: the first evaluation must not overwrite inputs of the second
  const Tape::Mark mark = tape.mark();
  const std::size_t before = tape.arena().used();
  Var now = f(inputs);
  if (!tape.training() || tape.arena().used() - before <= keep_bytes) return now;

  Tape& scratch = tape.scratch();
  const Tape::Mark scratch_mark = scratch.mark();
  View kept = scratch.allocate(now.shape());
  std::copy(now.value().begin(), now.value().end(), kept.begin());
  const bool needed = now.needs_gradient();
  tape.rewind(mark);
  View value = tape.allocate(kept.shape);
  std::copy(kept.begin(), kept.end(), value.begin());
  scratch.rewind(scratch_mark);

  return tape.record_if(value, needed, [&tape, inputs, f](View dy) {
    Tape& again = tape.scratch();
    const Tape::Mark start = again.mark();
    std::array<Var, N> leaves;
    for (std::size_t i = 0; i < N; ++i)
      if (inputs[i]) leaves[i] = again.leaf(inputs[i].value(), inputs[i].gradient().data);
    again.backward_from(f(leaves), dy);
    again.rewind(start);
  });
}

}  // namespace softalign
