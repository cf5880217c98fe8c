// Fused operations against their specification: the same formula in small operations, value and
// gradient, in double.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/ops/ops.hpp"
#include "tests/gradient/equal.hpp"
#include "tests/gradient/projected_cross_entropy.hpp"

using namespace softalign;
using namespace softalign::testing;

namespace {

// Nothing is dropped with an empty mask.
Var dropped(Var h, Var mask) { return mask ? mask * h : h; }

// h' = tanh(x + h U)
Inputs rnn_reference(Var x, const Inputs& previous, Var u, Var mask) {
  return {tanh(x + linear(dropped(previous[0], mask), u))};
}

// h' = (1 - z) h + z tanh(x_c + (r h) Uc)
Inputs gru_reference(Var x, const Inputs& previous, Var u, Var uc, Var mask) {
  const Index units = uc.shape()[0];
  Var h = previous[0], fed = dropped(h, mask);
  Var gates = sigmoid(slice_last(x, 0, 2 * units) + linear(fed, u));
  Var z = slice_last(gates, 0, units), r = slice_last(gates, units, units);
  Var c = tanh(slice_last(x, 2 * units, units) + linear(r * fed, uc));
  return {h - z * h + z * c};
}

// c' = f c + i g, h' = o tanh(c')
Inputs lstm_reference(Var x, const Inputs& previous, Var u, Var mask) {
  const Index units = u.shape()[0];
  Var all = x + linear(dropped(previous[0], mask), u);
  const auto part = [&](Index k) { return slice_last(all, k * units, units); };
  Var c = sigmoid(part(1)) * previous[1] + sigmoid(part(0)) * tanh(part(2));
  return {sigmoid(part(3)) * tanh(c), c};
}

Var side_by_side(const Inputs& arrays) {  // per sentence: [B, all others]
  const auto flat = [](Var x) {
    if (x.shape().rank() == 2) return x;
    Var all = select_step(x, 0);
    for (Index step = 1; step < x.shape()[1]; ++step) all = concat_last(all, select_step(x, step));
    return all;
  };
  Var all = flat(arrays[0]);
  for (std::size_t k = 1; k < arrays.size(); ++k) all = concat_last(all, flat(arrays[k]));
  return all;
}

// A mask row for each position: sentences that have ended keep their state.
using Step = std::function<Inputs(Var x, const Inputs& previous)>;
Var sequence_reference(Var x,
                       Index units,
                       std::size_t states,
                       const std::vector<Index>& lengths,
                       bool backwards,
                       const Step& step) {
  Tape& tape = x.tape();
  const Index rows = x.shape()[0], steps = x.shape()[1];
  Inputs state(states, tape.constant(tape.zeros({rows, units})));
  Inputs outputs(states * usize(steps));
  for (Index i = 0; i < steps; ++i) {
    const Index at = backwards ? steps - 1 - i : i;
    View mask = tape.zeros({rows, units});
    for (Index b = 0; b < rows; ++b)
      if (at < lengths[usize(b)]) std::fill_n(mask.data + b * units, units, real{1});
    Var alive = tape.constant(mask);
    const Inputs next = step(select_step(x, at), state);
    for (std::size_t k = 0; k < states; ++k) {
      state[k] = state[k] + alive * (next[k] - state[k]);
      outputs[k * usize(steps) + usize(at)] = alive * state[k];
    }
  }
  return side_by_side(outputs);
}

// A dropout mask for four sentences of five units: half of it is 0, the rest 2.
Var mask_on(Tape& tape) {
  View mask = tape.zeros({4, 5});
  for (Index i = 0; i < mask.size(); ++i) mask.data[i] = i * 7 % 4 < 2 ? 2 : 0;
  return tape.constant(mask);
}

Var additive_reference(Var keys, Var query, Var v) {
  std::vector<Var> energies;
  for (Index s = 0; s < keys.shape()[1]; ++s)
    energies.push_back(linear(tanh(select_step(keys, s) + query), v));
  Var all = energies[0];
  for (std::size_t s = 1; s < energies.size(); ++s) all = concat_last(all, energies[s]);
  return all;
}

const std::vector<Index> kLengths = {6, 6, 3, 1};

// Separately for each head and query; queries [T,B,D], keys and values in one array [B,S,2D].
Var multi_head_reference(
    Var queries, Var memory, Index heads, std::span<const Index> lengths, bool mean) {
  const Index steps = queries.shape()[0], size = queries.shape()[2], each = size / heads;
  const auto queries_of = unstack_steps(Var(queries));
  std::vector<Var> contexts, weights;
  for (Index t = 0; t < steps; ++t) {
    Var context, mean_weights;
    for (Index h = 0; h < heads; ++h) {
      Var query = slice_last(queries_of[usize(t)], h * each, each);
      Var keys = slice_last(memory, h * each, each),
          values = slice_last(memory, size + h * each, each);
      Var w = softmax_prefix(
          real{1} / std::sqrt(static_cast<real>(each)) * batched_dot(keys, query, lengths),
          lengths);
      Var c = weighted_sum(w, values, lengths);
      context = h == 0 ? c : concat_last(context, c);
      mean_weights = h == 0 ? w : mean_weights + w;
    }
    contexts.push_back(context);
    weights.push_back(real{1} / static_cast<real>(heads) * mean_weights);
  }
  return stack_steps(mean ? weights : contexts);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fused_equals_reference)

BOOST_AUTO_TEST_CASE(recurrent_steps_are_their_formulas) {
  for (const bool drops : {false, true}) {
    const auto mask = [=](const Inputs& x) { return drops ? mask_on(x[0].tape()) : Var(); };
    equal(
        {{4, 5}, {4, 5}, {5, 5}},
        [=](const Inputs& x) { return rnn_step(Var(x[0]), x[1], x[2], mask(x)); },
        [=](const Inputs& x) { return rnn_reference(x[0], {x[1]}, x[2], mask(x))[0]; });
    equal(
        {{4, 15}, {4, 5}, {5, 10}, {5, 5}},
        [=](const Inputs& x) { return gru_step(Var(x[0]), x[1], x[2], x[3], mask(x)); },
        [=](const Inputs& x) { return gru_reference(x[0], {x[1]}, x[2], x[3], mask(x))[0]; });
    equal(
        {{4, 20}, {4, 5}, {4, 5}, {5, 20}},
        [=](const Inputs& x) {
          const LstmState next = lstm_step(Var(x[0]), {x[1], x[2]}, x[3], mask(x));
          return concat_last(next[0], next[1]);
        },
        [=](const Inputs& x) {
          return side_by_side(lstm_reference(x[0], {x[1], x[2]}, x[3], mask(x)));
        });
  }
}

BOOST_AUTO_TEST_CASE(recurrent_sequences_are_their_steps) {
  for (const bool backwards : {false, true})
    for (const bool drops : {false, true}) {
      const auto mask = [=](const Inputs& x) { return drops ? mask_on(x[0].tape()) : Var(); };
      const auto reference = [=](Var x, std::size_t states, const Step& step) {
        return sequence_reference(x, 5, states, kLengths, backwards, step);
      };
      equal(
          {{4, 6, 5}, {5, 5}},
          [=](const Inputs& x) {
            return side_by_side({rnn_sequence(Var(x[0]), x[1], kLengths, backwards, mask(x))});
          },
          [=](const Inputs& x) {
            return reference(x[0], 1, [=, m = mask(x)](Var at, const Inputs& state) {
              return rnn_reference(at, state, x[1], m);
            });
          });
      equal(
          {{4, 6, 15}, {5, 10}, {5, 5}},
          [=](const Inputs& x) {
            return side_by_side(
                {gru_sequence(Var(x[0]), x[1], x[2], kLengths, backwards, mask(x))});
          },
          [=](const Inputs& x) {
            return reference(x[0], 1, [=, m = mask(x)](Var at, const Inputs& state) {
              return gru_reference(at, state, x[1], x[2], m);
            });
          });
      equal(
          {{4, 6, 20}, {5, 20}},
          [=](const Inputs& x) {
            const LstmState states = lstm_sequence(Var(x[0]), x[1], kLengths, backwards, mask(x));
            return side_by_side({states[0], states[1]});
          },
          [=](const Inputs& x) {
            return reference(x[0], 2, [=, m = mask(x)](Var at, const Inputs& state) {
              return lstm_reference(at, state, x[1], m);
            });
          });
    }
}

BOOST_AUTO_TEST_CASE(gru_reset_after_is_the_formula) {
  const auto formula = [](Var x, Var q, Var h) {
    const Index units = h.shape().last();
    Var gates = sigmoid(slice_last(x, 0, 2 * units) + slice_last(q, 0, 2 * units));
    Var z = slice_last(gates, 0, units), r = slice_last(gates, units, units);
    Var c = tanh(slice_last(x, 2 * units, units) + r * slice_last(q, 2 * units, units));
    return h - z * h + z * c;
  };
  equal(
      {{4, 15}, {4, 15}, {4, 5}},
      [](const Inputs& x) { return gru_reset_after(Var(x[0]), x[1], x[2]); },
      [=](const Inputs& x) { return formula(x[0], x[1], x[2]); });
  equal(  // overwrites a product
      {{4, 3}, {3, 15}, {4, 5}, {5, 15}},
      [](const Inputs& x) { return gru_reset_after(linear(x[0], x[1]), linear(x[2], x[3]), x[2]); },
      [=](const Inputs& x) { return formula(linear(x[0], x[1]), linear(x[2], x[3]), x[2]); });
}

BOOST_AUTO_TEST_CASE(mean_prefix_is_the_mean_of_valid_positions) {
  equal(
      {{4, 6, 3}},
      [](const Inputs& x) { return mean_prefix(x[0], kLengths); },
      [](const Inputs& x) {
        Tape& tape = x[0].tape();
        Var all;
        for (Index s = 0; s < 6; ++s) {
          View share = tape.zeros({4, 3});
          for (Index b = 0; b < 4; ++b)
            if (const Index length = kLengths[usize(b)]; s < length)
              std::fill_n(share.data + b * 3, 3, 1.0 / static_cast<double>(length));
          Var one = tape.constant(share) * select_step(x[0], s);
          all = all ? all + one : one;
        }
        return all;
      });
}

BOOST_AUTO_TEST_CASE(a_transposed_weight_is_the_transpose) {
  const auto transpose = [](Var w) {
    const Index rows = w.shape()[0], columns = w.shape()[1];
    View t = w.tape().allocate({columns, rows});
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns; ++j) t.data[j * rows + i] = w.value().data[i * columns + j];
    return w.tape().record(t, {w}, [=](View dt) {
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
          w.gradient().data[i * columns + j] += dt.data[j * rows + i];
    });
  };
  equal(
      {{2, 3, 4}, {5, 4}, {5}},
      [](const Inputs& x) { return linear(x[0], x[1], x[2], Tape::Weight::transposed); },
      [=](const Inputs& x) { return linear(x[0], transpose(x[1]), x[2]); });
  const std::vector<Token> targets = {2, -1, 0, 4, 1, -1};
  equal(
      {{6, 3}, {5, 3}, {5}},
      [&](const Inputs& x) {
        return sum(
            projected_cross_entropy(x[0], x[1], x[2], targets, 0.5, 0, Tape::Weight::transposed)
                .loss);
      },
      [&](const Inputs& x) {
        return sum(projected_cross_entropy(x[0], transpose(x[1]), x[2], targets, 0.5).loss);
      });
}

BOOST_AUTO_TEST_CASE(add_linear_is_a_product_and_a_sum) {
  equal(
      {{4, 5}, {4, 3}, {3, 5}},
      [](const Inputs& x) { return add_linear(tanh(x[0]), x[1], x[2]); },
      [](const Inputs& x) { return tanh(x[0]) + linear(x[1], x[2]); });
  equal(
      {{4, 3}, {4, 3}, {3, 5}},
      [](const Inputs& x) { return add_linear(linear(x[0], x[2]), x[1], x[2]); },
      [](const Inputs& x) { return linear(x[0], x[2]) + linear(x[1], x[2]); });
}

BOOST_AUTO_TEST_CASE(additive_energy_is_the_formula) {
  const std::vector<Index> full = {6, 6, 6};
  equal(
      {{3, 6, 19}, {3, 19}, {19, 1}},
      [&](const Inputs& x) { return additive_energy(x[0], x[1], x[2], full); },
      [](const Inputs& x) { return additive_reference(x[0], x[1], x[2]); });
}

BOOST_AUTO_TEST_CASE(softmax_and_context_are_the_formula) {
  equal(
      {{2, 4}, {2, 4, 3}},
      [](const Inputs& x) {
        static const std::vector<Index> lengths = {4, 4};
        return weighted_sum(softmax_prefix(x[0], lengths), x[1], lengths);
      },
      [](const Inputs& x) {
        Tape& tape = x[0].tape();
        const auto value = [&](Index b, Index s) { return x[0].value().data[b * 4 + s]; };
        View y = tape.zeros({2, 3}), w = tape.zeros({2, 4});
        for (Index b = 0; b < 2; ++b) {
          double total = 0;
          for (Index s = 0; s < 4; ++s) total += std::exp(value(b, s));
          for (Index s = 0; s < 4; ++s) {
            w.data[b * 4 + s] = std::exp(value(b, s)) / total;
            for (Index d = 0; d < 3; ++d)
              y.data[b * 3 + d] += w.data[b * 4 + s] * x[1].value().data[(b * 4 + s) * 3 + d];
          }
        }
        return tape.record(y, {x[0], x[1]}, [=, e = x[0], h = x[1]](View dy) {
          for (Index b = 0; b < 2; ++b)
            for (Index s = 0; s < 4; ++s)
              for (Index d = 0; d < 3; ++d) {
                h.gradient().data[(b * 4 + s) * 3 + d] += w.data[b * 4 + s] * dy.data[b * 3 + d];
                for (Index k = 0; k < 4; ++k)  // dw_s / de_k = w_s ([s = k] - w_k)
                  e.gradient().data[b * 4 + k] +=
                      dy.data[b * 3 + d] * h.value().data[(b * 4 + s) * 3 + d] * w.data[b * 4 + s] *
                      ((s == k) - w.data[b * 4 + k]);
              }
        });
      });
}

BOOST_AUTO_TEST_CASE(multi_head_attention_is_its_heads) {
  for (const bool mean : {false, true})
    equal(
        {Shape::steps_first({3, 4, 6}), {4, 6, 12}},
        [=](const Inputs& x) {
          const MultiHead out =
              multi_head_attention({x[0], 0},
                                   {x[1], 0},
                                   {x[1], 6},
                                   {.size = 6, .heads = 3, .lengths = kLengths, .mean = mean});
          return mean ? out.mean : out.context;
        },
        [=](const Inputs& x) { return multi_head_reference(x[0], x[1], 3, kLengths, mean); });
}

// Causal attention equals attention over the first positions of a sequence.
BOOST_AUTO_TEST_CASE(causal_attention_is_attention_to_the_past) {
  constexpr Index kSteps = 5, kSize = 4;
  equal(
      {Shape::steps_first({kSteps, 2, 3 * kSize})},
      [](const Inputs& x) {
        const auto at = [&](Index begin) { return Heads{x[0], begin}; };
        return multi_head_attention(
                   at(0), at(kSize), at(2 * kSize), {.size = kSize, .heads = 2, .causal = true})
            .context;
      },
      [](const Inputs& x) {
        const auto steps = unstack_steps(Var(x[0]));
        Var past = x[0].tape().constant(x[0].tape().zeros({2, 0, 2 * kSize}));
        std::vector<Var> contexts;
        for (Var step : steps) {
          past = append_step(past, slice_last(step, kSize, 2 * kSize));
          contexts.push_back(multi_head_attention({slice_last(step, 0, kSize)},
                                                  {past, 0},
                                                  {past, kSize},
                                                  {.size = kSize, .heads = 2})
                                 .context);
        }
        return stack_steps(contexts);
      });
}

BOOST_AUTO_TEST_CASE(layer_norm_is_the_formula) {
  constexpr Index kSize = 37;  // two full vectors and a remainder
  const std::vector<Token> first_row = {0, 0, 0};
  equal(
      {{3, kSize}, {1, kSize}, {kSize}},
      [](const Inputs& x) { return layer_norm(x[0], x[1], x[2], 0.1); },
      [&](const Inputs& x) {
        View centre = x[0].tape().zeros({kSize, kSize});  // x - mean as a product
        for (Index i = 0; i < kSize; ++i)
          for (Index j = 0; j < kSize; ++j) centre.data[i * kSize + j] = (i == j) - 1.0 / kSize;
        // x / sqrt(|x|²/D + e) = sqrt(D) x / sqrt(|x|² + D e)
        Var centred = linear(x[0], x[0].tape().constant(centre));
        Var normal = std::sqrt(kSize) * normalize_last(centred, std::sqrt(kSize * 0.1));
        return add_bias(normal * embedding(x[1], first_row, {3}), x[2]);
      });
}

BOOST_AUTO_TEST_CASE(projected_cross_entropy_is_the_formula) {
  constexpr Index kRows = 700;  // several chunks with skipped rows
  std::vector<Token> targets;
  for (Token i = 0; i < kRows; ++i) targets.push_back(i * 7 % 6 - 1);
  equal(
      {{kRows, 3}, {3, 5}, {5}},
      [&](const Inputs& x) {
        return sum(projected_cross_entropy(x[0], x[1], x[2], targets, 0.5).loss);
      },
      [&](const Inputs& x) {
        Var logits = linear(x[0], x[1], x[2]);
        View loss = x[0].tape().zeros({1});
        for (Index i = 0; i < kRows; ++i) {
          const Token target = targets[usize(i)];
          if (target < 0) continue;
          double total = 0;
          for (Index v = 0; v < 5; ++v) total += std::exp(logits.value().data[i * 5 + v]);
          loss.data[0] += 0.5 * (std::log(total) - logits.value().data[i * 5 + target]);
        }
        return x[0].tape().record(loss, {logits}, [=, &targets](View dy) {
          for (Index i = 0; i < kRows; ++i) {
            const Token target = targets[usize(i)];
            if (target < 0) continue;
            double total = 0;
            for (Index v = 0; v < 5; ++v) total += std::exp(logits.value().data[i * 5 + v]);
            for (Index v = 0; v < 5; ++v)
              logits.gradient().data[i * 5 + v] +=
                  0.5 * dy.data[0] *
                  (std::exp(logits.value().data[i * 5 + v]) / total - (v == target));
          }
        });
      });
}

BOOST_AUTO_TEST_SUITE_END()
