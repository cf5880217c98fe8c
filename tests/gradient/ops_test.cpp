// Every operation's backward against finite differences, in double.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/autodiff/rematerialize.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/ops/location.hpp"
#include "framework/ops/ops.hpp"
#include "tests/gradient/projected_cross_entropy.hpp"

using namespace softalign;

namespace {

using Inputs = std::vector<Var>;

struct Array {
  Array(const char* name, Shape s) : shape(s), numbers(usize(s.size())) {
    const RandomStream stream(7, name);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = stream.normal(i);
  }
  View view() { return {numbers.data(), shape}; }
  Shape shape;
  std::vector<double> numbers;
};

void check(std::vector<Shape> shapes, const std::function<Var(const Inputs&)>& f) {
  std::vector<Array> arrays;
  const char* names[] = {"a", "b", "c", "d", "e", "f"};
  for (std::size_t i = 0; i < shapes.size(); ++i) arrays.emplace_back(names[i], shapes[i]);
  std::vector<View> views;
  for (Array& array : arrays) views.push_back(array.view());
  const GradientCheck result =
      check_gradients([&](Tape&, const Inputs& x) { return Inputs{f(x)}; }, views, nullptr, 1000);
  BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
  BOOST_TEST(result.checked > 0);
}

const std::vector<Index> kLengths = {5, 4, 2};

}  // namespace

BOOST_AUTO_TEST_SUITE(gradients)

BOOST_AUTO_TEST_CASE(elementwise) {
  check({{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] + x[1]; });
  check({{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] - x[1]; });
  check({{3, 4}, {3, 4}}, [](const Inputs& x) { return x[0] * x[1]; });
  check({{3, 4}}, [](const Inputs& x) { return real{2.5} * x[0]; });
  check({{3, 4}, {1}}, [](const Inputs& x) { return scale_by(x[0], x[1]); });
  check({{3, 4}, {1}}, [](const Inputs& x) { return shift_by(x[0], x[1]); });
  check({{3, 4}, {4}}, [](const Inputs& x) { return add_bias(x[0], x[1]); });
  check({{3, 5}}, [](const Inputs& x) { return tanh(x[0]); });
  check({{3, 5}}, [](const Inputs& x) { return sigmoid(x[0]); });
  check({{3, 5}}, [](const Inputs& x) { return relu(x[0]); });
  check({{3, 5}, {5, 4}}, [](const Inputs& x) { return relu(linear(x[0], x[1])); });
  check({{3, 5}, {5, 4}, {3, 4}}, [](const Inputs& x) { return add(linear(x[0], x[1]), x[2]); });
  check({{3, 6}}, [](const Inputs& x) { return maxout(x[0]); });
  check({{3, 6}}, [](const Inputs& x) { return sum(x[0] * x[0]); });
}

BOOST_AUTO_TEST_CASE(products) {
  check({{2, 3, 4}, {4, 5}, {5}}, [](const Inputs& x) { return linear(x[0], x[1], x[2]); });
  check({{6, 4}, {4, 5}}, [](const Inputs& x) { return linear(x[0], x[1]); });
  check({{2, 3, 4}, {5, 4}, {5}},
        [](const Inputs& x) { return linear(x[0], x[1], x[2], Tape::Weight::transposed); });
  check({{2, 3, 5}, {2, 3, 4}, {4, 5}},
        [](const Inputs& x) { return add_linear(Var(x[0]), x[1], x[2]); });
  check({{3, 5, 4}, {3, 4}}, [](const Inputs& x) { return batched_dot(x[0], x[1], kLengths); });
  check({{3, 5, 4}, {3, 4}}, [](const Inputs& x) { return batched_dot(x[0], x[1]); });
  check({{2, 3, 4}, {2, 3, 4}}, [](const Inputs& x) { return normalize_last(x[0]) * x[1]; });
}

// Gradients that are collected over several time steps must arrive: with more rows than are collected
// for a weight, and more steps than for a memory, which is not a leaf.
BOOST_AUTO_TEST_CASE(many_time_steps) {
  check({{3, 4}, {4, 4}}, [](const Inputs& x) {
    Var state = x[0];
    for (int t = 0; t < 100; ++t) state = tanh(linear(state, x[1]));
    return state;
  });
  check({{3, 5, 4}, {3, 4}}, [](const Inputs& x) {
    Var memory = tanh(x[0]), state = x[1];
    for (int t = 0; t < 20; ++t)
      state = weighted_sum(
          softmax_prefix(batched_dot(memory, state, kLengths), kLengths), memory, kLengths);
    return state;
  });
}

BOOST_AUTO_TEST_CASE(shapes) {
  check({{2, 3, 4}, {2, 3, 2}}, [](const Inputs& x) { return concat_last(x[0], x[1]); });
  check({{2, 3, 4}}, [](const Inputs& x) { return slice_last(x[0], 1, 2); });
  check({{2, 3, 4}}, [](const Inputs& x) { return select_step(x[0], 1); });
  check({{3, 5, 4}}, [](const Inputs& x) { return select_last_valid(x[0], kLengths); });
  check({{3, 5, 4}}, [](const Inputs& x) { return windows(x[0], 3, kLengths); });
  check({{3, 5, 4}}, [](const Inputs& x) { return windows(x[0], 7, kLengths); });
  check({{2, 4}, {2, 4}}, [](const Inputs& x) { return stack_steps(x); });
  check({{2, 4}, {2, 1}, {2, 4}, {2, 1}}, [](const Inputs& x) { return stack_steps(x, 2); });
  check({{3, 2, 4}}, [](const Inputs& x) {
    const auto steps = unstack_steps(tanh(x[0]));
    return steps[0] * steps[2] + steps[2];
  });
  const std::vector<Token> ids = {1, 0, 3, 1};
  check({{4, 3}}, [&](const Inputs& x) { return embedding(x[0], ids, {2, 2}); });
}

BOOST_AUTO_TEST_CASE(recurrence) {
  for (const bool backwards : {false, true}) {
    check({{3, 5, 3}, {3, 3}},
          [=](const Inputs& x) { return rnn_sequence(Var(x[0]), x[1], kLengths, backwards); });
    check({{3, 5, 9}, {3, 6}, {3, 3}}, [=](const Inputs& x) {
      return gru_sequence(Var(x[0]), x[1], x[2], kLengths, backwards);
    });
    check({{3, 5, 12}, {3, 12}}, [=](const Inputs& x) {
      const LstmState states = lstm_sequence(Var(x[0]), x[1], kLengths, backwards);
      return concat_last(states[0], states[1]);
    });
  }
  check({{2, 3}, {2, 3}, {3, 3}}, [](const Inputs& x) { return rnn_step(Var(x[0]), x[1], x[2]); });
  check({{2, 9}, {2, 3}, {3, 6}, {3, 3}},
        [](const Inputs& x) { return gru_step(Var(x[0]), x[1], x[2], x[3]); });
  check({{3, 12}, {3, 12}, {3, 4}},
        [](const Inputs& x) { return gru_reset_after(Var(x[0]), x[1], x[2]); });
  check({{2, 12}, {2, 3}, {2, 3}, {3, 12}}, [](const Inputs& x) {
    const LstmState next = lstm_step(Var(x[0]), {x[1], x[2]}, x[3]);
    return concat_last(next[0], next[1]);
  });
}

// An operation with two results: its backward runs once, whichever of them are read, and after the
// collected gradients of both.
BOOST_AUTO_TEST_CASE(one_of_two_results) {
  for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
    check({{2, 12}, {2, 3}, {2, 3}, {3, 12}}, [=](const Inputs& x) {
      return lstm_step(Var(x[0]), {x[1], x[2]}, x[3])[which];
    });
    check({{3, 5, 12}, {3, 12}, {3, 3}}, [=](const Inputs& x) {
      Var memory = lstm_sequence(Var(x[0]), x[1], kLengths, false)[which];
      return weighted_sum(
          softmax_prefix(batched_dot(memory, x[2], kLengths), kLengths), memory, kLengths);
    });
  }
  check({{2, 12}, {2, 3}, {2, 3}, {3, 12}},
        [](const Inputs& x) {  // the first result is not changed
          const LstmState next = lstm_step(Var(x[0]), {x[1], x[2]}, x[3]);
          Var sum = add_linear(Var(next[0]), next[1], slice_last(x[3], 0, 3));
          return concat_last(sum, next[1]);
        });
}

BOOST_AUTO_TEST_CASE(attention) {
  check({{3, 5, 4}, {3, 4}, {4}},
        [](const Inputs& x) { return additive_energy(x[0], x[1], x[2], kLengths); });
  check({{3, 5}}, [](const Inputs& x) { return softmax_prefix(x[0], kLengths); });
  check({{3, 5}, {3, 5, 4}}, [](const Inputs& x) { return weighted_sum(x[0], x[1], kLengths); });
  check({{3, 5, 4}}, [](const Inputs& x) { return mean_prefix(x[0], kLengths); });
}

BOOST_AUTO_TEST_CASE(location) {
  check({{3, 5}}, [](const Inputs& x) { return exp(x[0]); });
  const std::vector<Index> begins = {1, 0, 1}, ends = {4, 4, 2};
  const std::vector<Shape> shapes = {{3, 5, 4}, {3, 4}, {4}, {3, 5}, {2, 3}, {2, 4}};
  check(shapes, [](const Inputs& x) {
    return location_energy(x[0], x[1], x[2], {x[3], x[4], x[5]}, kLengths);
  });
  check(shapes, [&](const Inputs& x) {
    return location_energy(x[0], x[1], x[2], {x[3], x[4], x[5]}, ends, begins);
  });
  check({{3, 5}}, [](const Inputs& x) { return normalize_prefix(exp(x[0]), kLengths); });
  check({{3, 5}}, [&](const Inputs& x) { return normalize_prefix(exp(x[0]), ends, begins); });
  check({{3, 2}, {3, 2}, {3, 2}}, [](const Inputs& x) {
    return gaussian_mixture(x[0], exp(x[1]), x[2] * x[2], 5, kLengths);
  });
}

BOOST_AUTO_TEST_CASE(alignment) {
  check({{3, 5, 4}, {3, 4}, {4}, {3, 5}, {4}},
        [](const Inputs& x) { return coverage_energy(x[0], x[1], x[2], x[3], x[4], kLengths); });
  check({{3, 5}}, [](const Inputs& x) { return sparsemax_prefix(x[0], kLengths); });
  for (const double alpha : {1.0, 1.2, 1.5, 1.9, 2.0})
    check({{3, 5}}, [=](const Inputs& x) { return entmax_prefix(x[0], alpha, kLengths); });
  for (const real least : {0.0, 0.001, 0.3, 0.8})  // alpha - 1
    check({{3, 5}, {3, 1}}, [=](const Inputs& x) {
      View one = x[0].tape().allocate({3, 1});
      std::fill(one.begin(), one.end(), 1 + least);
      Var alpha = real{0.1} * (x[1] * x[1]) + x[0].tape().constant(one);
      return entmax_prefix(x[0], alpha, kLengths);
    });
  for (const Index size : {1, 2, 9})
    check({{3, 5}, {3, 5}},
          [=](const Inputs& x) { return chunk_prefix(x[0], x[1], size, kLengths); });
  const std::vector<Index> begins = {1, 0, 1}, ends = {4, 4, 2};
  check({{3, 5}}, [&](const Inputs& x) { return softmax_prefix(x[0], ends, begins); });
  check({{3, 5, 4}, {3, 4}},
        [&](const Inputs& x) { return batched_dot(x[0], x[1], ends, begins); });
  check({{3, 5, 4}, {3, 4}, {4}},
        [&](const Inputs& x) { return additive_energy(x[0], x[1], x[2], ends, begins); });
  check({{3, 5, 4}, {3, 4}, {4}, {3, 5}, {4}}, [&](const Inputs& x) {
    return coverage_energy(x[0], x[1], x[2], x[3], x[4], ends, begins);
  });
  check({{3, 5}, {3, 1}},
        [](const Inputs& x) { return gaussian_window(x[0], x[1], real{1.5}, kLengths); });
  check({{3, 5}, {3, 5}},
        [](const Inputs& x) { return monotonic_prefix(sigmoid(x[0]), x[1] * x[1], kLengths); });
  const std::vector<Index> places = {3, 0, 4, 2, 1, 1, 3, 0, 2, 9, 1, 0, 9, 9, 9};
  check({{3, 5}}, [&](const Inputs& x) { return permute_prefix(x[0], places.data(), kLengths); });
  const std::vector<Index> chosen = {3, 0, 1};
  const std::vector<real> factors = {0.5, -2, 0};
  check({{3, 5}}, [&](const Inputs& x) {
    return log_likelihood(softmax_prefix(x[0], kLengths), chosen.data(), factors.data());
  });
  check({{3, 5}},
        [&](const Inputs& x) { return entropy(softmax_prefix(x[0], kLengths), factors.data()); });
}

BOOST_AUTO_TEST_CASE(transformer) {
  check({{2, 3, 5}, {5}, {5}}, [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); });
  for (const Shape& shape : {Shape{2, 3, 4}, Shape::steps_first({2, 3, 4})})
    check({shape, {6, 4}}, [](const Inputs& x) { return add_positions(1.5, x[0], x[1], 2); });
  check({{2, 4}, {6, 4}}, [](const Inputs& x) { return add_positions(1.5, x[0], x[1], 7); });
  check({{2, 3, 4}, {2, 4}}, [](const Inputs& x) { return append_step(x[0], x[1]); });
  std::vector<real> turns;
  for (int i = 0; i < 6; ++i)
    for (const double turn : {std::cos(1.0 + i), std::sin(1.0 + i)})
      turns.push_back(static_cast<real>(turn));
  for (const Shape& shape : {Shape{2, 3, 9}, Shape::steps_first({3, 2, 9})})
    check({shape}, [&](const Inputs& x) { return rotate(tanh(x[0]), 2, {turns.data(), {3, 4}}); });
  check({{2, 9}}, [&](const Inputs& x) { return rotate(Var(x[0]), 2, {turns.data(), {1, 4}}); });
}

// Queries, keys and values are columns of one array; checks both outputs.
BOOST_AUTO_TEST_CASE(multi_head) {
  const auto both = [](MultiHead out) {
    return concat_last(sum(out.context * out.context), sum(out.mean * out.mean));
  };
  check({{3, 5, 12}}, [&](const Inputs& x) {
    return both(multi_head_attention({x[0], 0},
                                     {x[0], 4},
                                     {x[0], 8},
                                     {.size = 4, .heads = 2, .lengths = kLengths, .mean = true}));
  });
  check({Shape::steps_first({5, 3, 12})}, [&](const Inputs& x) {
    const auto at = [&](Index begin) { return Heads{x[0], begin}; };
    return both(multi_head_attention(
        at(0), at(4), at(8), {.size = 4, .heads = 2, .causal = true, .mean = true}));
  });
  check({Shape::steps_first({2, 3, 4}), {3, 5, 9}}, [&](const Inputs& x) {
    return both(multi_head_attention({x[0], 0},
                                     {x[1], 1},
                                     {x[1], 5},
                                     {.size = 4, .heads = 2, .lengths = kLengths, .mean = true}));
  });
  check({{3, 4}, {3, 5, 8}}, [&](const Inputs& x) {
    return both(multi_head_attention(
        {x[0]}, {x[1], 0}, {x[1], 4}, {.size = 4, .heads = 1, .lengths = kLengths, .mean = true}));
  });
}

// Relative positions: clipped or not, per head or shared, for keys only or also for values.
BOOST_AUTO_TEST_CASE(multi_head_distances) {
  for (const Shape& table : {Shape{3, 4}, Shape{3, 2}, Shape{12, 4}})
    for (const bool causal : {false, true})
      for (const bool values : {false, true})
        check({causal ? Shape::steps_first({5, 3, 12}) : Shape{3, 5, 12}, table, table},
              [&](const Inputs& x) {
                const auto at = [&](Index begin) { return Heads{x[0], begin}; };
                const MultiHead out = multi_head_attention(
                    at(0),
                    at(4),
                    at(8),
                    {.size = 4,
                     .heads = 2,
                     .lengths = causal ? std::span<const Index>() : kLengths,
                     .causal = causal,
                     .mean = true,
                     .distances = {x[1], values ? x[2] : Var(), table[0] == 12 ? 5 : 1}});
                return concat_last(
                    concat_last(sum(out.context * out.context), sum(out.mean * out.mean)),
                    sum(x[2] * x[2]));
              });
  check({{3, 4}, {3, 5, 8}, {3, 4}, {3, 4}}, [&](const Inputs& x) {  // one step
    return multi_head_attention({x[0], 0},
                                {x[1], 0},
                                {x[1], 4},
                                {.size = 4, .heads = 2, .distances = {x[2], x[3], 2}})
        .context;
  });
}

BOOST_AUTO_TEST_CASE(losses) {
  const std::vector<Token> targets = {2, -1, 0, 4, 1, -1};
  check({{6, 3}, {3, 5}, {5}}, [&](const Inputs& x) {
    return sum(projected_cross_entropy(x[0], x[1], x[2], targets, real{0.25}).loss);
  });
}

// The rows of a tied table are embeddings and columns of the projection.
BOOST_AUTO_TEST_CASE(tied_embeddings) {
  const std::vector<Token> ids = {1, 0, 3, 1, 4, 1}, targets = {2, -1, 0, 4, 1, -1};
  check({{5, 3}, {5}, {3, 3}}, [&](const Inputs& x) {
    Var features = tanh(linear(embedding(x[0], ids, {6}), x[2]));
    return sum(projected_cross_entropy(
                   features, x[0], x[1], targets, real{0.25}, 0, Tape::Weight::transposed)
                   .loss);
  });
}

// The rematerialised result has the bits of the plain one in value and gradients, and needs less of the
// tape.
BOOST_AUTO_TEST_CASE(rematerialisation) {
  const auto f = [](std::array<Var, 2> x) {
    Var a = tanh(x[0] * x[1]);
    return sigmoid(a * a) * x[1];
  };
  check({{30, 40}, {30, 40}}, [&](const Inputs& x) {
    return rematerialize<2>(x[0].tape(), {x[0], x[1]}, 0, f);
  });

  std::vector<std::vector<double>> gradients;
  std::vector<std::size_t> used;
  for (const std::size_t keep : {std::size_t{0}, std::size_t{1} << 30}) {
    Array a("a", {30, 40}), b("b", {30, 40});
    std::vector<double> da(1200), db(1200);
    Tape tape(Tape::Mode::train);
    Var x = tape.leaf(a.view(), da.data()), y = tape.leaf(b.view(), db.data());
    Var out = rematerialize<2>(tape, {x, y}, keep, f);
    used.push_back(tape.arena().used());
    tape.backward(sum(out * out));
    da.insert(da.end(), db.begin(), db.end());
    gradients.push_back(da);
  }
  BOOST_TEST(gradients[0] == gradients[1]);
  BOOST_TEST(used[0] < used[1] / 3);
}

// The check finds wrong gradients.
BOOST_AUTO_TEST_CASE(a_wrong_backward_is_found) {
  std::vector<double> numbers = {0.5, -1.5};
  const GradientCheck result = check_gradients(
      [](Tape& tape, const Inputs& x) {
        View y = tape.allocate({2});
        for (int i = 0; i < 2; ++i) y.data[i] = x[0].value().data[i] * x[0].value().data[i];
        return Inputs{tape.record(y, {x[0]}, [x = x[0]](View dy) {
          for (int i = 0; i < 2; ++i)
            x.gradient().data[i] += dy.data[i] * x.value().data[i];  // the factor 2 is missing
        })};
      },
      {{numbers.data(), {2}}},
      nullptr);
  BOOST_TEST(result.worst > 0.1);
}

BOOST_AUTO_TEST_SUITE_END()
