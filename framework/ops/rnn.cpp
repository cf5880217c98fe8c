#include "framework/ops/recurrence.hpp"

namespace softalign {
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
