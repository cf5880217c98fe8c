#include "framework/kernels/gru.hpp"

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

}  // namespace softalign
