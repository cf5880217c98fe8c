#include "framework/kernels/gru.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

using kernels::GruSizes;

// One transition of `n.rows` rows. gates: the inputs, then the gates; reset: scratch [rows,U].
void transition(GruSizes n,
                const real* previous,
                const real* u,
                const real* uc,
                real* gates,
                real* reset,
                real* output) {
  const Index units = n.units;
  if (previous != nullptr)
    gemm({previous, n.rows, units, n.state_stride},
         {u, units, 2 * units},
         true,
         gates,
         n.gate_stride);
  kernels::gru_gates_forward(n, previous, gates, reset);
  if (previous != nullptr)
    gemm({reset, n.rows, units}, {uc, units, units}, true, gates + 2 * units, n.gate_stride);
  kernels::gru_output_forward(n, previous, gates, output);
}

// Its backward: dgates (same layout as gates) from dh [rows,U]; adds to dprevious [rows,U]. u and uc:
// transposed. dreset: scratch [rows,U].
void transition_backward(GruSizes n,
                         const real* dh,
                         const real* previous,
                         Matrix u,
                         Matrix uc,
                         real* dreset,
                         real* gates,
                         real* dgates,
                         real* dprevious) {
  const Index units = n.units;
  kernels::gru_output_backward(n, dh, gates, previous, dgates, dprevious);
  gemm({dgates + 2 * units, n.rows, units, n.gate_stride}, uc, false, dreset, units);
  kernels::gru_gates_backward(n, dreset, previous, gates, dgates, dprevious);
  gemm({dgates, n.rows, 2 * units, n.gate_stride}, u, true, dprevious, units);
}

// What a transition adds to the gradients of u and uc, once its backward has run.
void add_products(Tape& tape,
                  Var u,
                  Var uc,
                  GruSizes n,
                  const real* previous,
                  const real* gates,
                  const real* dgates) {
  const Index units = n.units;
  tape.add_weight_product(
      u, {previous, n.rows, units, n.state_stride}, {dgates, n.rows, 2 * units, n.gate_stride});
  tape.add_weight_product(uc,
                          {gates + units, n.rows, units, n.gate_stride},
                          {dgates + 2 * units, n.rows, units, n.gate_stride});
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

Var gru_step(Var&& x, Var previous, Var u, Var uc) {
  check_weights("gru_step", x, u, uc);
  const Index rows = x.shape()[0], units = uc.shape()[0];
  ops::require(
      previous.shape() == Shape{rows, units}, "gru_step", "previous must be [B,U]", x, previous);
  Tape& tape = x.tape();
  const GruSizes n{rows, units, 3 * units, units};
  Var gates = tape.take(x);
  View output = tape.allocate({rows, units});
  const Arena::Mark mark = tape.arena().mark();
  View reset = tape.allocate({rows, units});
  const View before = previous.value(), g = gates.value();
  transition(n, before.data, u.value().data, uc.value().data, g.data, reset.data, output.data);
  tape.arena().rewind(mark);
  return tape.record(output, {gates, previous, u, uc}, [=, &tape](View dh) {
    tape.keep_gradient(gates);
    View dgates = gates.gradient();
    const Arena::Mark start = tape.arena().mark();
    View dreset = tape.allocate(output.shape);
    View dprevious = previous.needs_gradient() ? previous.gradient() : tape.zeros(output.shape);
    transition_backward(n,
                        dh.data,
                        before.data,
                        tape.transpose({u.value().data, units, 2 * units}, rows),
                        tape.transpose({uc.value().data, units, units}, rows),
                        dreset.data,
                        g.data,
                        dgates.data,
                        dprevious.data);
    add_products(tape, u, uc, n, before.data, g.data, dgates.data);
    tape.arena().rewind(start);
  });
}

Var gru_sequence(Var&& x, Var u, Var uc, std::span<const Index> lengths, bool backwards) {
  check_weights("gru_sequence", x, u, uc);
  const Index rows = x.shape()[0], steps = x.shape()[1], units = uc.shape()[0];
  ops::require(x.shape().rank() == 3 && static_cast<Index>(lengths.size()) == rows &&
                   std::is_sorted(lengths.rbegin(), lengths.rend()),
               "gru_sequence",
               "x must be [B,S,3U] with lengths [B] that do not increase",
               x);
  Tape& tape = x.tape();
  View output = tape.zeros({rows, steps, units});
  Var taken = tape.take(x);
  const View gates = taken.value();
  const Index* length = lengths.data();
  // A time step. Sentences are sorted by length: those alive are the first ones.
  // The state before comes from the neighbouring position for rows [0, carried), for rows [carried,
  // alive) it is zero.
  struct Moment {
    Index at, alive, carried, before;
  };
  const auto moment = [=](Index i) {
    const auto alive_at = [=](Index at) {
      Index count = 0;
      while (count < rows && length[count] > at) ++count;
      return count;
    };
    Moment p{backwards ? steps - 1 - i : i, 0, 0, 0};
    p.before = backwards ? p.at + 1 : p.at - 1;
    p.alive = alive_at(p.at);
    p.carried = i == 0 ? 0 : backwards ? alive_at(p.before) : p.alive;
    return p;
  };
  const auto sizes = [=](Index count) {
    return GruSizes{count, units, steps * 3 * units, steps * units};
  };

  const Arena::Mark mark = tape.arena().mark();
  View reset = tape.allocate({rows, units});
  for (Index i = 0; i < steps; ++i) {
    const Moment p = moment(i);
    const auto run = [&](Index first, Index count, const real* before) {
      if (count > 0)
        transition(sizes(count),
                   before,
                   u.value().data,
                   uc.value().data,
                   gates.data + (first * steps + p.at) * 3 * units,
                   reset.data,
                   output.data + (first * steps + p.at) * units);
    };
    run(0, p.carried, output.data + p.before * units);
    run(p.carried, p.alive - p.carried, nullptr);
  }
  tape.arena().rewind(mark);

  return tape.record(output, {taken, u, uc}, [=, &tape](View doutput) {
    tape.keep_gradient(taken);
    View dgates = taken.gradient();
    const Matrix u_transposed = tape.transpose({u.value().data, units, 2 * units}, rows),
                 uc_transposed = tape.transpose({uc.value().data, units, units}, rows);
    const Arena::Mark start = tape.arena().mark();
    View dh = tape.zeros({rows, units}), dprevious = tape.allocate({rows, units}),
         dreset = tape.allocate({rows, units});
    for (Index i = steps - 1; i >= 0; --i) {
      const Moment p = moment(i);
      // dh: what the next transition sent back, plus what the output's readers ask here.
      for (Index b = 0; b < p.alive; ++b)
        kernels::add(units, doutput.data + (b * steps + p.at) * units, dh.data + b * units);
      std::fill(dprevious.begin(), dprevious.end(), real{0});
      real* g = gates.data + p.at * 3 * units;
      real* dg = dgates.data + p.at * 3 * units;
      if (p.carried > 0) {
        const GruSizes n = sizes(p.carried);
        const real* before = output.data + p.before * units;
        transition_backward(
            n, dh.data, before, u_transposed, uc_transposed, dreset.data, g, dg, dprevious.data);
        add_products(tape, u, uc, n, before, g, dg);
      }
      const Index first = p.carried * steps * 3 * units;
      kernels::gru_first_backward(
          sizes(p.alive - p.carried), dh.data + p.carried * units, g + first, dg + first);
      std::swap(dh, dprevious);
    }
    tape.arena().rewind(start);
  });
}

}  // namespace softalign
