#include "framework/kernels/gru.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

using kernels::GruSizes;

// One transition of `n.rows` rows. hu, cu, reset: scratch [rows,2U], [rows,U], [rows,U].
void transition(GruSizes n,
                const real* x,
                const real* previous,
                const real* u,
                const real* uc,
                real* hu,
                real* cu,
                real* reset,
                real* gates,
                real* output) {
  const Index units = n.units;
  if (previous == nullptr) {
    std::fill_n(hu, n.rows * 2 * units, real{0});
    std::fill_n(cu, n.rows * units, real{0});
    kernels::gru_gates_forward(n, x, hu, nullptr, gates, reset);
  } else {
    gemm({previous, n.rows, units, n.state_stride}, {u, units, 2 * units}, false, hu, 2 * units);
    kernels::gru_gates_forward(n, x, hu, previous, gates, reset);
    gemm({reset, n.rows, units}, {uc, units, units}, false, cu, units);
  }
  kernels::gru_output_forward(n, x, cu, previous, gates, output);
}

// Its backward: dh [rows,U] in; dgates (same layout as gates) and dprevious [rows,U] out. u and uc:
// transposed. dreset: scratch [rows,U].
void transition_backward(GruSizes n,
                         const real* dh,
                         const real* gates,
                         const real* previous,
                         Matrix u,
                         Matrix uc,
                         real* dreset,
                         real* dgates,
                         real* dprevious) {
  const Index units = n.units;
  kernels::gru_output_backward(n, dh, gates, previous, dgates, dprevious);
  if (previous == nullptr) {
    std::fill_n(dreset, n.rows * units, real{0});
    kernels::gru_gates_backward(n, dreset, gates, nullptr, dgates, dprevious);
    return;
  }
  gemm({dgates + 2 * units, n.rows, units, n.gate_stride}, uc, false, dreset, units);
  kernels::gru_gates_backward(n, dreset, gates, previous, dgates, dprevious);
  gemm({dgates, n.rows, 2 * units, n.gate_stride}, u, true, dprevious, units);
}

void check_weights(std::string_view op, Var x, Var u, Var uc) {
  const Index units = uc.shape()[0];
  ops::require(x.shape().last() == 3 * units && u.shape() == Shape{units, 2 * units} &&
                   uc.shape() == Shape{units, units},
               op,
               "x [...,3U], u [U,2U] and uc [U,U] must agree",
               x,
               u,
               uc);
}

}  // namespace

Var gru_step(Var x, Var previous, Var u, Var uc) {
  check_weights("gru_step", x, u, uc);
  const Index rows = x.shape()[0], units = uc.shape()[0];
  ops::require(
      previous.shape() == Shape{rows, units}, "gru_step", "previous must be [B,U]", x, previous);
  Tape& tape = x.tape();
  const GruSizes n{rows, units, 3 * units, units};
  View output = tape.allocate({rows, units});
  View gates = tape.allocate({rows, 3 * units});
  View reset = tape.allocate({rows, units});
  const Arena::Mark mark = tape.arena().mark();
  View hu = tape.allocate({rows, 2 * units}), cu = tape.allocate({rows, units});
  transition(n,
             x.value().data,
             previous.value().data,
             u.value().data,
             uc.value().data,
             hu.data,
             cu.data,
             reset.data,
             gates.data,
             output.data);
  tape.arena().rewind(mark);
  return tape.record(output, {x, previous, u, uc}, [=, &tape](View dh) {
    View dx = x.gradient(), dprevious = previous.gradient(), du = u.gradient(), duc = uc.gradient();
    WeightProducts& products = tape.weight_products();
    const Arena::Mark start = tape.arena().mark();
    View dgates = tape.allocate(gates.shape), dp = tape.allocate(output.shape),
         dreset = tape.allocate(output.shape);
    transition_backward(n,
                        dh.data,
                        gates.data,
                        previous.value().data,
                        products.transpose({u.value().data, units, 2 * units}, rows),
                        products.transpose({uc.value().data, units, units}, rows),
                        dreset.data,
                        dgates.data,
                        dp.data);
    if (dx) kernels::add(dx.size(), dgates.data, dx.data);
    if (dprevious) kernels::add(dp.size(), dp.data, dprevious.data);
    if (du)
      products.add_gradient(
          {previous.value().data, rows, units}, {dgates.data, rows, 2 * units, 3 * units}, du.data);
    if (duc)
      products.add_gradient(
          {reset.data, rows, units}, {dgates.data + 2 * units, rows, units, 3 * units}, duc.data);
    tape.arena().rewind(start);
  });
}

Var gru_sequence(Var x, Var u, Var uc, std::span<const Index> lengths, bool backwards) {
  check_weights("gru_sequence", x, u, uc);
  const Index rows = x.shape()[0], steps = x.shape()[1], units = uc.shape()[0];
  ops::require(x.shape().rank() == 3 && static_cast<Index>(lengths.size()) == rows &&
                   std::is_sorted(lengths.rbegin(), lengths.rend()),
               "gru_sequence",
               "x must be [B,S,3U] with lengths [B] that do not increase",
               x);
  Tape& tape = x.tape();
  View output = tape.zeros({rows, steps, units});
  View gates = tape.allocate({rows, steps, 3 * units});
  const Index* length = lengths.data();
  // Sentences are sorted by length, so those alive at a position are the first ones.
  const auto alive = [=](Index step) {
    Index count = 0;
    while (count < rows && length[count] > step) ++count;
    return count;
  };
  const auto sizes = [=](Index count) {
    return GruSizes{count, units, steps * 3 * units, steps * units};
  };
  const Index direction = backwards ? -1 : 1;

  // The state before `step`: rows [0, carried) come from the neighbouring position, the others
  // start at zero.
  const Arena::Mark mark = tape.arena().mark();
  View hu = tape.allocate({rows, 2 * units}), cu = tape.allocate({rows, units}),
       reset = tape.allocate({rows, units});
  for (Index i = 0; i < steps; ++i) {
    const Index step = backwards ? steps - 1 - i : i;
    const Index count = alive(step);
    const Index carried = i == 0 ? 0 : backwards ? alive(step + 1) : count;
    const real* at_x = x.value().data + step * 3 * units;
    const real* before = output.data + (step - direction) * units;
    real* at_gates = gates.data + step * 3 * units;
    real* at_output = output.data + step * units;
    if (carried > 0)
      transition(sizes(carried),
                 at_x,
                 before,
                 u.value().data,
                 uc.value().data,
                 hu.data,
                 cu.data,
                 reset.data,
                 at_gates,
                 at_output);
    if (count > carried)
      transition(sizes(count - carried),
                 at_x + carried * steps * 3 * units,
                 nullptr,
                 u.value().data,
                 uc.value().data,
                 hu.data,
                 cu.data,
                 reset.data,
                 at_gates + carried * steps * 3 * units,
                 at_output + carried * steps * units);
  }
  tape.arena().rewind(mark);

  return tape.record(output, {x, u, uc}, [=, &tape](View doutput) {
    View dx = x.gradient(), du = u.gradient(), duc = uc.gradient();
    WeightProducts& products = tape.weight_products();
    const Matrix u_transposed = products.transpose({u.value().data, units, 2 * units}, rows),
                 uc_transposed = products.transpose({uc.value().data, units, units}, rows);
    const Arena::Mark start = tape.arena().mark();
    View dgates = tape.zeros(gates.shape);
    View dh = tape.zeros({rows, units}), dprevious = tape.allocate({rows, units}),
         dreset = tape.allocate({rows, units});
    for (Index i = steps - 1; i >= 0; --i) {
      const Index step = backwards ? steps - 1 - i : i;
      const Index count = alive(step);
      const Index carried = i == 0 ? 0 : backwards ? alive(step + 1) : count;
      // dh: what the next transition sent back, plus what the output's readers ask here.
      for (Index b = 0; b < count; ++b)
        kernels::add(units, doutput.data + (b * steps + step) * units, dh.data + b * units);
      const real* at_gates = gates.data + step * 3 * units;
      real* at_dgates = dgates.data + step * 3 * units;
      if (carried > 0)
        transition_backward(sizes(carried),
                            dh.data,
                            at_gates,
                            output.data + (step - direction) * units,
                            u_transposed,
                            uc_transposed,
                            dreset.data,
                            at_dgates,
                            dprevious.data);
      if (count > carried)
        transition_backward(sizes(count - carried),
                            dh.data + carried * units,
                            at_gates + carried * steps * 3 * units,
                            nullptr,
                            u_transposed,
                            uc_transposed,
                            dreset.data,
                            at_dgates + carried * steps * 3 * units,
                            dprevious.data + carried * units);
      std::copy_n(dprevious.data, carried * units, dh.data);
      std::fill(dh.data + carried * units, dh.end(), real{0});
    }
    if (dx) kernels::add(dx.size(), dgates.data, dx.data);
    // Weight gradients: one product over all positions. Padding and first positions hold zeros on
    // one side.
    View previous = tape.zeros(output.shape);
    for (Index b = 0; b < rows; ++b) {
      const real* from = output.data + b * steps * units;
      real* to = previous.data + b * steps * units;
      if (backwards)
        std::copy_n(from + units, (length[b] - 1) * units, to);
      else
        std::copy_n(from, (length[b] - 1) * units, to + units);
    }
    if (du)
      gemm(Matrix{previous.data, rows * steps, units}.transpose(),
           {dgates.data, rows * steps, 2 * units, 3 * units},
           true,
           du.data,
           2 * units);
    if (duc) {
      for (Index b = 0; b < rows; ++b)
        for (Index step = 0; step < length[b]; ++step) {
          real* h = previous.data + (b * steps + step) * units;
          kernels::multiply(units, h, gates.data + ((b * steps + step) * 3 + 1) * units, h);
        }
      gemm(Matrix{previous.data, rows * steps, units}.transpose(),
           {dgates.data + 2 * units, rows * steps, units, 3 * units},
           true,
           duc.data,
           units);
    }
    tape.arena().rewind(start);
  });
}

}  // namespace softalign
