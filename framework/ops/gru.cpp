#include "framework/kernels/gru.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

using kernels::GruSizes;

struct Weights {
  Tape& tape;
  Var u, uc;  // [U,2U], [U,U]
};

// One transition of `n.rows` rows. gates: the inputs, then the gates; reset: scratch [rows,U].
void transition(
    GruSizes n, const Weights& w, const real* previous, real* gates, real* reset, real* output) {
  const Index units = n.units;
  if (previous != nullptr)
    w.tape.multiply({previous, n.rows, units, n.state_stride},
                    w.u,
                    Tape::Weight::as_it_is,
                    true,
                    gates,
                    n.gate_stride);
  kernels::gru_gates_forward(n, previous, gates, reset);
  if (previous != nullptr)
    w.tape.multiply({reset, n.rows, units},
                    w.uc,
                    Tape::Weight::as_it_is,
                    true,
                    gates + 2 * units,
                    n.gate_stride);
  kernels::gru_output_forward(n, previous, gates, output);
}

// Its backward: dgates (same layout as gates) from dh [rows,U]; adds to dprevious [rows,U] and to the
// gradients of the weights. dreset: scratch [rows,U].
void transition_backward(GruSizes n,
                         const Weights& w,
                         const real* dh,
                         const real* previous,
                         real* dreset,
                         real* gates,
                         real* dgates,
                         real* dprevious) {
  const Index units = n.units;
  const Matrix of_u{dgates, n.rows, 2 * units, n.gate_stride},
      of_uc{dgates + 2 * units, n.rows, units, n.gate_stride};
  kernels::gru_output_backward(n, dh, gates, previous, dgates, dprevious);
  w.tape.multiply(of_uc, w.uc, Tape::Weight::transposed, false, dreset, units);
  kernels::gru_gates_backward(n, dreset, previous, gates, dgates, dprevious);
  w.tape.multiply(of_u, w.u, Tape::Weight::transposed, true, dprevious, units);
  w.tape.add_weight_product(w.u, {previous, n.rows, units, n.state_stride}, of_u);
  w.tape.add_weight_product(w.uc, {gates + units, n.rows, units, n.gate_stride}, of_uc);
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
  transition(n, {tape, u, uc}, before.data, g.data, reset.data, output.data);
  tape.arena().rewind(mark);
  return tape.record(output, {gates, previous, u, uc}, [=, &tape](View dh) {
    tape.keep_gradient(gates);
    View dgates = gates.gradient();
    const Arena::Mark start = tape.arena().mark();
    View dreset = tape.allocate(output.shape);
    View dprevious = previous.needs_gradient() ? previous.gradient() : tape.zeros(output.shape);
    transition_backward(
        n, {tape, u, uc}, dh.data, before.data, dreset.data, g.data, dgates.data, dprevious.data);
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
                   {tape, u, uc},
                   before,
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
        const real* before = output.data + p.before * units;
        transition_backward(
            sizes(p.carried), {tape, u, uc}, dh.data, before, dreset.data, g, dg, dprevious.data);
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
