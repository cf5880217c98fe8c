#include "framework/kernels/cells.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/recurrence.hpp"

namespace softalign {
namespace {

struct GruCell {
  static constexpr const char *kSequence = "gru_sequence", *kStep = "gru_step";
  static constexpr Index kGates = 3;
  static constexpr std::size_t kStates = 1;
  Tape* tape;
  Var u, uc;  // [U,2U], [U,U]

  Index units() const { return uc.shape()[0]; }
  void check(std::string_view op, Var x) const {
    ops::require(x.shape().last() == 3 * units() && u.shape() == Shape{units(), 2 * units()} &&
                     uc.shape() == Shape{units(), units()},
                 op,
                 "x [...,3U], u [U,2U] and uc [U,U] must agree",
                 x,
                 u,
                 uc);
  }
  kernels::GruSizes sizes(const ops::Transition<1>& t) const {
    return {t.rows, units(), t.gate_stride, t.state_stride};
  }

  void forward(const ops::Transition<1>& t) const {
    const kernels::GruSizes n = sizes(t);
    const Index width = n.units;
    if (t.fed != nullptr)
      tape->multiply({t.fed, t.rows, width, t.state_stride},
                     u,
                     Tape::Weight::as_it_is,
                     true,
                     t.gates,
                     t.gate_stride);
    kernels::gru_gates_forward(n, t.fed, t.gates, t.scratch);
    if (t.fed != nullptr)
      tape->multiply({t.scratch, t.rows, width},
                     uc,
                     Tape::Weight::as_it_is,
                     true,
                     t.gates + 2 * width,
                     t.gate_stride);
    kernels::gru_output_forward(n, t.previous[0], t.gates, t.next[0]);
  }

  void backward(const ops::Transition<1>& t, const ops::TransitionGradients<1>& d) const {
    const kernels::GruSizes n = sizes(t);
    const Index width = n.units;
    if (t.fed == nullptr) return kernels::gru_first_backward(n, d.next[0], t.gates, d.gates);
    const Matrix of_u{d.gates, t.rows, 2 * width, t.gate_stride},
        of_uc{d.gates + 2 * width, t.rows, width, t.gate_stride};
    kernels::gru_output_backward(n, d.next[0], t.gates, t.previous[0], d.gates, d.previous[0]);
    tape->multiply(of_uc, uc, Tape::Weight::transposed, false, t.scratch, width);
    kernels::gru_gates_backward(n, t.scratch, t.fed, t.gates, d.gates, d.fed);
    tape->multiply(of_u, u, Tape::Weight::transposed, true, d.fed, width);
    tape->add_weight_product(u, {t.fed, t.rows, width, t.state_stride}, of_u);
    tape->add_weight_product(uc, {t.gates + width, t.rows, width, t.gate_stride}, of_uc);
  }
};

}  // namespace

Var gru_step(Var&& x, Var previous, Var u, Var uc, Var mask) {
  return ops::cell_step(GruCell{&x.tape(), u, uc}, x, {previous}, mask)[0];
}

Var gru_sequence(Var&& x, Var u, Var uc, std::span<const Index> lengths, bool backwards, Var mask) {
  return ops::cell_sequence(GruCell{&x.tape(), u, uc}, x, lengths, backwards, mask)[0];
}

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

namespace {

struct LstmCell {
  static constexpr const char *kSequence = "lstm_sequence", *kStep = "lstm_step";
  static constexpr Index kGates = 4;
  static constexpr std::size_t kStates = 2;
  Tape* tape;
  Var u;  // [U,4U]

  Index units() const { return u.shape()[0]; }
  void check(std::string_view op, Var x) const {
    ops::require(x.shape().last() == 4 * units() && u.shape() == Shape{units(), 4 * units()},
                 op,
                 "x [...,4U] and u [U,4U] must agree",
                 x,
                 u);
  }
  kernels::LstmSizes sizes(const ops::Transition<2>& t) const {
    return {t.rows, units(), t.gate_stride, t.state_stride, t.state_stride};
  }

  void forward(const ops::Transition<2>& t) const {
    if (t.fed != nullptr)
      tape->multiply({t.fed, t.rows, units(), t.state_stride},
                     u,
                     Tape::Weight::as_it_is,
                     true,
                     t.gates,
                     t.gate_stride);
    kernels::lstm_forward(sizes(t), t.previous[1], t.gates, t.next[0], t.next[1]);
  }

  void backward(const ops::Transition<2>& t, const ops::TransitionGradients<2>& d) const {
    kernels::lstm_backward(
        sizes(t), d.next[0], d.next[1], t.gates, t.previous[1], t.next[1], d.gates, d.previous[1]);
    if (t.fed == nullptr) return;
    const Matrix dgates{d.gates, t.rows, 4 * units(), t.gate_stride};
    tape->multiply(dgates, u, Tape::Weight::transposed, true, d.fed, units());
    tape->add_weight_product(u, {t.fed, t.rows, units(), t.state_stride}, dgates);
  }
};

}  // namespace

LstmState lstm_step(Var&& x, LstmState previous, Var u, Var mask) {
  return ops::cell_step(LstmCell{&x.tape(), u}, x, previous, mask);
}

LstmState lstm_sequence(Var&& x, Var u, std::span<const Index> lengths, bool backwards, Var mask) {
  return ops::cell_sequence(LstmCell{&x.tape(), u}, x, lengths, backwards, mask);
}

namespace {

// h' = tanh(x + h U); dx = dh' (1 - h'²), dh = dx U^T
struct RnnCell {
  static constexpr const char *kSequence = "rnn_sequence", *kStep = "rnn_step";
  static constexpr Index kGates = 1;
  static constexpr std::size_t kStates = 1;
  Tape* tape;
  Var u;  // [U,U]

  Index units() const { return u.shape()[0]; }
  void check(std::string_view op, Var x) const {
    ops::require(x.shape().last() == units() && u.shape() == Shape{units(), units()},
                 op,
                 "x [...,U] and u [U,U] must agree",
                 x,
                 u);
  }

  void forward(const ops::Transition<1>& t) const {
    if (t.fed != nullptr)
      tape->multiply({t.fed, t.rows, units(), t.state_stride},
                     u,
                     Tape::Weight::as_it_is,
                     true,
                     t.gates,
                     t.gate_stride);
    for (Index row = 0; row < t.rows; ++row)
      kernels::tanh_forward(
          units(), t.gates + row * t.gate_stride, t.next[0] + row * t.state_stride);
  }

  void backward(const ops::Transition<1>& t, const ops::TransitionGradients<1>& d) const {
    for (Index row = 0; row < t.rows; ++row) {
      real* dx = d.gates + row * t.gate_stride;
      std::fill_n(dx, units(), real{0});
      kernels::tanh_backward(
          units(), t.next[0] + row * t.state_stride, d.next[0] + row * units(), dx);
    }
    if (t.fed == nullptr) return;
    const Matrix dx{d.gates, t.rows, units(), t.gate_stride};
    tape->multiply(dx, u, Tape::Weight::transposed, true, d.fed, units());
    tape->add_weight_product(u, {t.fed, t.rows, units(), t.state_stride}, dx);
  }
};

}  // namespace

Var rnn_step(Var&& x, Var previous, Var u, Var mask) {
  return ops::cell_step(RnnCell{&x.tape(), u}, x, {previous}, mask)[0];
}

Var rnn_sequence(Var&& x, Var u, std::span<const Index> lengths, bool backwards, Var mask) {
  return ops::cell_sequence(RnnCell{&x.tape(), u}, x, lengths, backwards, mask)[0];
}

}  // namespace softalign
