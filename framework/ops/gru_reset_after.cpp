#include "framework/kernels/gru_reset_after.hpp"

#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

Var gru_reset_after(Var&& x, Var q, Var previous) {
  const Index rows = previous.shape()[0], units = previous.shape()[1];
  ops::require(
      previous.shape().rank() == 2 && x.shape() == Shape{rows, 3 * units} && q.shape() == x.shape(),
      "gru_reset_after",
      "x and q [B,3U] and previous [B,U] must agree",
      x,
      q,
      previous);
  Tape& tape = x.tape();
  const View projected = q.value(), before = previous.value();
  Var inputs = tape.take(x);
  const View gates = inputs.value();
  View output = tape.allocate({rows, units});
  kernels::gru_reset_after_forward(
      rows, units, projected.data, before.data, gates.data, output.data);
  return tape.record(output, {inputs, q, previous}, [=, &tape](View dh) {
    const Arena::Mark mark = tape.arena().mark();
    View dgates = inputs.gradient();
    if (!dgates) dgates = tape.allocate(gates.shape);
    kernels::gru_reset_after_backward(rows,
                                      units,
                                      dh.data,
                                      projected.data,
                                      before.data,
                                      gates.data,
                                      dgates.data,
                                      q.gradient().data,
                                      previous.gradient().data);
    tape.arena().rewind(mark);
  });
}

}  // namespace softalign
