// The layer with intra-attention against its equations (Cheng et al. 2016, section 3.2), step by step
// in small operations.
#include "tests/gradient/equal.hpp"

#include "framework/base/types.hpp"

using namespace softalign;
using namespace softalign::testing;

namespace {

constexpr Index kRows = 3, kSteps = 5, kUnits = 4, kWidth = 3;
const std::vector<Index> kLengths = {5, 3, 1};

// Repeats a column [B,1] to [B,size].
Var repeat(Var column, Index size) {
  View ones = column.tape().allocate({1, size});
  std::fill(ones.begin(), ones.end(), real{1});
  return linear(column, column.tape().constant(ones));
}

// Returns h and c of all positions, concatenated to [B, S * 2U], 0 at padding.
Var reference(const Inputs& in) {
  Var x = in[0], queries = in[1], u = in[2], w_h = in[3], w_summary = in[4], v = in[5];
  Tape& tape = x.tape();
  Inputs h, c;
  Var summary_h = tape.constant(tape.zeros({kRows, kUnits})), summary_c = summary_h, all;
  for (Index t = 0; t < kSteps; ++t) {
    Var query = select_step(queries, t) + linear(summary_h, w_summary), energies;
    for (Var before : h) {
      Var energy = linear(tanh(linear(before, w_h) + query), v);
      energies = energies ? concat_last(energies, energy) : energy;
    }
    if (t > 0) {
      Index* past = tape.arena().array_of<Index>(kRows);
      std::fill_n(past, kRows, t);
      Var weights = softmax_prefix(energies, {past, usize(kRows)});
      summary_h = summary_c = tape.constant(tape.zeros({kRows, kUnits}));
      for (Index i = 0; i < t; ++i) {
        Var weight = repeat(slice_last(weights, i, 1), kUnits);
        summary_h = summary_h + weight * h[usize(i)];
        summary_c = summary_c + weight * c[usize(i)];
      }
    }
    Var gates = select_step(x, t) + linear(summary_h, u);
    const auto gate = [&](Index k) { return slice_last(gates, k * kUnits, kUnits); };
    c.push_back(sigmoid(gate(1)) * summary_c + sigmoid(gate(0)) * tanh(gate(2)));
    h.push_back(sigmoid(gate(3)) * tanh(c.back()));
    View alive = tape.zeros({kRows, 2 * kUnits});
    for (Index b = 0; b < kRows; ++b)
      if (t < kLengths[usize(b)]) std::fill_n(alive.data + b * 2 * kUnits, 2 * kUnits, real{1});
    Var here = tape.constant(alive) * concat_last(h.back(), c.back());
    all = all ? concat_last(all, here) : here;
  }
  return all;
}

Var fused(const Inputs& in) {
  const LstmState states = lstmn_sequence(Var(in[0]), in[1], in[2], in[3], in[4], in[5], kLengths);
  Var both = concat_last(states[0], states[1]), all = select_step(both, 0);
  for (Index t = 1; t < kSteps; ++t) all = concat_last(all, select_step(both, t));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(intra_attention)

BOOST_AUTO_TEST_CASE(lstmn_sequence_is_the_equations) {
  equal({{kRows, kSteps, 4 * kUnits},
         {kRows, kSteps, kWidth},
         {kUnits, 4 * kUnits},
         {kUnits, kWidth},
         {kUnits, kWidth},
         {kWidth, 1}},
        fused,
        reference);
}

BOOST_AUTO_TEST_SUITE_END()
