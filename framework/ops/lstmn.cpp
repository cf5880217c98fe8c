#include <algorithm>

#include "framework/kernels/attention.hpp"
#include "framework/kernels/cells.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

using Weight = Tape::Weight;

// The layer, and everything that forward stores for backward. Data of one time step is contiguous,
// [S,B,...]; the tapes that steps attend to (h, c, keys) are ordered by sentence, [B,S,...].
struct Lstmn {
  Tape* tape;
  Var u, w_h, w_summary, v;         // [U,4U], [U,A], [U,A], [A]
  Index rows, steps, units, width;  // B, S, U, A
  const Index* lengths;             // [B]
  Index* past;                      // [B], scratch: the length of the tape
  real *gates, *h, *c, *keys;       // [B,S,4U], [B,S,U], [B,S,U], [B,S,A]: h w_h
  real *queries, *weights;          // [S,B,A], [S,B,S]
  real *summaries_h, *summaries_c;  // [S,B,U]

  Index alive(Index t) const {
    Index count = 0;
    while (t < steps && count < rows && lengths[count] > t) ++count;
    return count;
  }
  kernels::AttentionSizes before(Index t, Index size) const {
    std::fill_n(past, rows, t);
    return {alive(t), steps, size, past};
  }
  kernels::LstmSizes cell(Index t) const {
    return {alive(t), units, steps * 4 * units, units, steps * units};
  }
  real* of_step(real* numbers, Index t, Index size) const { return numbers + t * rows * size; }
  Matrix summary(Index t, Index count) const {
    return {of_step(summaries_h, t, units), count, units};
  }

  void forward(Index t) const {
    const Index n = alive(t);
    real* summary_c = of_step(summaries_c, t, units);
    if (t > 0) {
      real* query = of_step(queries, t, width);
      real* weight = of_step(weights, t, steps);
      if (t > 1) tape->multiply(summary(t - 1, n), w_summary, Weight::as_it_is, true, query, width);
      kernels::additive_energy_forward(before(t, width), keys, query, v.value().data, weight);
      kernels::softmax_forward(before(t, 0), weight, weight);
      kernels::weighted_sum(before(t, units), weight, h, false, of_step(summaries_h, t, units));
      kernels::weighted_sum(before(t, units), weight, c, false, summary_c);
      tape->multiply(
          summary(t, n), u, Weight::as_it_is, true, gates + t * 4 * units, steps * 4 * units);
    }
    kernels::lstm_forward(
        cell(t), t > 0 ? summary_c : nullptr, gates + t * 4 * units, h + t * units, c + t * units);
    tape->multiply({h + t * units, n, units, steps * units},
                   w_h,
                   Weight::as_it_is,
                   false,
                   keys + t * width,
                   steps * width);
  }
};

struct Gradients {
  real *h, *c, *gates, *keys, *queries;           // as in Lstmn
  real *next_h, *next_c, *summary_h, *summary_c;  // scratch [B,U]
  real *weights, *energies, *row;                 // scratch [B,S], [B,S], [3,A]
  real* v;                                        // [B,A]
};

// ~h and ~c are sums over the tape: their gradients go to the weights and to all entries of the
// tape.
void look_back_backward(const Lstmn& l, const Gradients& d, Index t) {
  const Index n = l.alive(t);
  const real* weight = l.of_step(l.weights, t, l.steps);
  kernels::batched_dot(l.before(t, l.units), l.h, d.summary_h, false, d.weights);
  kernels::batched_dot(l.before(t, l.units), l.c, d.summary_c, true, d.weights);
  for (Index b = 0; b < n; ++b)
    for (Index i = 0; i < t; ++i) {
      const real w = weight[b * l.steps + i];
      const Index at = (b * l.steps + i) * l.units;
      kernels::add_scaled(l.units, w, d.summary_h + b * l.units, d.h + at);
      kernels::add_scaled(l.units, w, d.summary_c + b * l.units, d.c + at);
    }
  std::fill_n(d.energies, l.rows * l.steps, real{0});
  kernels::softmax_backward(l.before(t, 0), weight, d.weights, d.energies);
  kernels::additive_energy_backward(l.before(t, l.width),
                                    l.keys,
                                    l.of_step(l.queries, t, l.width),
                                    l.v.value().data,
                                    d.energies,
                                    d.keys,
                                    l.of_step(d.queries, t, l.width),
                                    d.v,
                                    d.row);
}

void backward(const Lstmn& l, const Gradients& d, Index t) {
  const Index n = l.alive(t), later = l.alive(t + 1), units = l.units;
  Tape& tape = *l.tape;
  tape.multiply({d.keys + t * l.width, n, l.width, l.steps * l.width},
                l.w_h,
                Weight::transposed,
                true,
                d.h + t * units,
                l.steps * units);
  for (Index b = 0; b < n; ++b) {
    std::copy_n(d.h + (b * l.steps + t) * units, units, d.next_h + b * units);
    std::copy_n(d.c + (b * l.steps + t) * units, units, d.next_c + b * units);
  }
  std::fill_n(d.summary_c, n * units, real{0});
  kernels::lstm_backward(l.cell(t),
                         d.next_h,
                         d.next_c,
                         l.gates + t * 4 * units,
                         t > 0 ? l.of_step(l.summaries_c, t, units) : nullptr,
                         l.c + t * units,
                         d.gates + t * 4 * units,
                         d.summary_c);
  if (t == 0) return;
  // ~h_t was read by the gates of its step and by the next query.
  const Matrix dgates{d.gates + t * 4 * units, n, 4 * units, l.steps * 4 * units};
  tape.multiply(dgates, l.u, Weight::transposed, false, d.summary_h, units);
  tape.add_weight_product(l.u, l.summary(t, n), dgates);
  if (later > 0) {
    const Matrix dquery{l.of_step(d.queries, t + 1, l.width), later, l.width};
    tape.multiply(dquery, l.w_summary, Weight::transposed, true, d.summary_h, units);
    tape.add_weight_product(l.w_summary, l.summary(t, later), dquery);
  }
  look_back_backward(l, d, t);
}

}  // namespace

LstmState lstmn_sequence(Var&& x,
                         Var queries,
                         Var u,
                         Var w_h,
                         Var w_summary,
                         Var v,
                         std::span<const Index> lengths,
                         View* weights) {
  const Index units = u.shape()[0], width = v.shape().size();
  const Index rows = x.shape()[0], steps = x.shape()[1];
  ops::require(
      u.shape() == Shape{units, 4 * units} && w_h.shape() == Shape{units, width} &&
          w_summary.shape() == w_h.shape() && x.shape() == Shape{rows, steps, 4 * units} &&
          queries.shape() == Shape{rows, steps, width},
      "lstmn_sequence",
      "x [B,S,4U], queries [B,S,A], u [U,4U], w_h and w_summary [U,A] and v [A] must agree",
      x,
      queries,
      u,
      w_h,
      w_summary,
      v);
  ops::require(static_cast<Index>(lengths.size()) == rows &&
                   std::is_sorted(lengths.rbegin(), lengths.rend()),
               "lstmn_sequence",
               "x needs lengths [B] that do not increase",
               x);
  Tape& tape = x.tape();
  const auto allocate = [&tape](const Shape& shape) { return tape.allocate(shape).data; };
  View states = tape.zeros({2, rows, steps, units});
  Var gates = tape.take(x);
  const Lstmn layer{&tape,
                    u,
                    w_h,
                    w_summary,
                    v,
                    rows,
                    steps,
                    units,
                    width,
                    lengths.data(),
                    tape.arena().array_of<Index>(rows),
                    gates.value().data,
                    states.data,
                    states.data + rows * steps * units,
                    allocate({rows, steps, width}),
                    allocate({steps, rows, width}),
                    allocate({steps, rows, steps}),
                    allocate({steps, rows, units}),
                    allocate({steps, rows, units})};
  for (Index b = 0; b < rows; ++b)
    for (Index t = 0; t < steps; ++t)
      std::copy_n(queries.value().data + (b * steps + t) * width,
                  width,
                  layer.queries + (t * rows + b) * width);
  for (Index t = 0; t < steps; ++t) layer.forward(t);
  if (weights != nullptr) {
    std::fill_n(layer.weights, rows * steps, real{0});  // the first step has no past
    *weights = {layer.weights, {steps, rows, 1, steps}};
  }

  const auto parts = tape.outputs(tape.record(states, {gates}, [=, &tape](View dy) {
    tape.keep_gradient(gates);
    View dkeys = tape.zeros({rows, steps, width}), dqueries = tape.zeros({steps, rows, width});
    const Arena::Mark mark = tape.arena().mark();
    const SentenceGradient dv(v, rows, width);
    const auto scratch = [&](Index size) { return tape.allocate({rows, size}).data; };
    const Gradients d{dy.data,  // the gradients of h and c are completed in place
                      dy.data + rows * steps * units,
                      gates.gradient().data,
                      dkeys.data,
                      dqueries.data,
                      scratch(units),
                      scratch(units),
                      scratch(units),
                      scratch(units),
                      scratch(steps),
                      scratch(steps),
                      tape.allocate({3, width}).data,
                      dv.data()};
    for (Index t = steps - 1; t >= 0; --t) backward(layer, d, t);
    tape.arena().rewind(mark);
    tape.add_weight_product(
        w_h, sentence_rows({layer.h, {rows, steps, units}}), sentence_rows(dkeys));
    if (View dx = queries.gradient())
      for (Index b = 0; b < rows; ++b)
        for (Index t = 0; t < steps; ++t)
          kernels::add(
              width, dqueries.data + (t * rows + b) * width, dx.data + (b * steps + t) * width);
  }));
  return {parts[0], parts[1]};
}

}  // namespace softalign
