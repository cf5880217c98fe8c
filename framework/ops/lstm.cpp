#include "framework/kernels/lstm.hpp"

#include "framework/ops/recurrence.hpp"

namespace softalign {
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

}  // namespace softalign
