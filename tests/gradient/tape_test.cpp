// Arrays that operations in place may overwrite, and gradients of weights that are combined when
// backward ends.
#include <boost/test/unit_test.hpp>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/autodiff/rematerialize.hpp"
#include "framework/base/error.hpp"
#include "framework/nn/initializers.hpp"
#include "framework/ops/ops.hpp"

using namespace softalign;

namespace {

struct Arrays {
  std::vector<real> x = std::vector<real>(12, real{0.25}), w = std::vector<real>(16, real{0.5});
  Tape tape{Tape::Mode::train};
  std::vector<real> dx = std::vector<real>(12), dw = std::vector<real>(16);
  Var base() { return tape.leaf({x.data(), {3, 4}}, dx.data()); }
  Var weight() { return tape.leaf({w.data(), {4, 4}}, dw.data()); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tape)

BOOST_AUTO_TEST_CASE(what_was_taken_cannot_be_read) {
  Arrays a;
  Var fresh = linear(a.base(), a.weight());
  Var same = fresh;
  Var sum = add_linear(std::move(fresh), a.base(), a.weight());
  BOOST_TEST(sum.shape().str() == "[3, 4]");
  BOOST_CHECK_THROW(same.value(), BugError);
}

BOOST_AUTO_TEST_CASE(what_others_have_read_is_copied) {
  Arrays a;
  Var x = linear(a.base(), a.weight());
  Var reader = x * x;
  const real before = x.value().data[0];
  Var sum = add_linear(Var(x), a.base(), a.weight());
  BOOST_TEST(x.value().data[0] == before);
  BOOST_TEST(sum.value().data != x.value().data);
  BOOST_TEST(reader.value().data[0] == before * before);
}

BOOST_AUTO_TEST_CASE(leaves_are_never_overwritten) {
  Arrays a;
  add_linear(a.base(), a.base(), a.weight());
  for (real number : a.x) BOOST_TEST(number == real{0.25});
}

// Rematerialisation computes twice: the first time must not change the inputs.
BOOST_AUTO_TEST_CASE(rematerialised_inputs_are_not_overwritten) {
  Arrays a;
  const auto f = [&](std::array<Var, 1> x) {
    return tanh(add_linear(Var(x[0]), a.base(), a.weight()));
  };
  Var plain = f({linear(a.base(), a.weight())});
  Var input = linear(a.base(), a.weight());
  Var again = rematerialize<1>(a.tape, {input}, 0, f);
  BOOST_CHECK_NO_THROW(input.value());
  for (Index i = 0; i < plain.shape().size(); ++i)
    BOOST_TEST(plain.value().data[i] == again.value().data[i]);
}

// Gradients of parameters are collected: few rows or many, of time steps, of a recomputed function, of a
// weight that is used in several places.
BOOST_AUTO_TEST_CASE(gradients_of_weights_arrive) {
  ParameterStore store;
  const Parameters p(store);
  Parameter* w = p.add("w", {4, 4}, init::normal(0.5));
  Parameter* u = p.add("u", {4, 4}, init::normal(0.5));
  Parameter* b = p.add("b", {4}, init::normal(0.5));
  store.allocate(1);
  std::vector<real> x(3 * 4), many(600 * 4);
  const RandomStream stream(1, "x");
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<real>(stream.normal(i));
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<real>(stream.normal(i));
  const GradientCheck check = check_gradients(
      [&](Tape& tape, const std::vector<Var>& in) {
        Var state = in[0];
        for (int t = 0; t < 200; ++t)
          state = tanh(linear(state, tape.parameter(*w), tape.parameter(*b)));
        Var rows = linear(in[1], tape.parameter(*u), tape.parameter(*b));
        Var again = rematerialize<2>(tape, {state, rows}, 0, [&](std::array<Var, 2> y) {
          Tape& here = y[0].tape();
          Var few = linear(tanh(linear(y[0], here.parameter(*w))), here.parameter(*u));
          Var all = tanh(linear(y[1], here.parameter(*u)));
          return concat_last(sum(few), sum(all * all));
        });
        return std::vector<Var>{state, again};
      },
      {{x.data(), {3, 4}}, {many.data(), {600, 4}}},
      &store);
  BOOST_TEST(check.worst < 1e-6, check.where);
}

BOOST_AUTO_TEST_SUITE_END()
