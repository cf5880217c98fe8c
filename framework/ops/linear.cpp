#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

namespace {

using Weight = Tape::Weight;

// dx = dy W^T, dW = x^T dy; transposed: dx = dy W, dW = dy^T x. db: the sum of the rows of dy.
void linear_backward(Var x, Var w, Var bias, Weight how, View dy) {
  const Index rows = x.shape().rows(), in = x.shape().last(), out = dy.shape.last();
  const bool turned = how == Weight::transposed;
  Tape& tape = x.tape();
  if (View dx = x.gradient())
    tape.multiply(
        {dy.data, rows, out}, w, turned ? Weight::as_it_is : Weight::transposed, true, dx.data, in);
  if (!w.needs_gradient() && !(bias && bias.needs_gradient())) return;
  tape.keep_gradient();
  const SentenceRows d = sentence_rows(dy), values = sentence_rows(x.value());
  tape.add_weight_product(w, turned ? d : values, turned ? values : d);
  if (bias) tape.add_row_sum(bias, d);
}

// Returns the last size of x w. Throws BugError if the shapes disagree.
Index check_sizes(std::string_view op, Var x, Var w, Weight how = Weight::as_it_is) {
  const bool turned = how == Weight::transposed;
  ops::require(w.shape().rank() == 2 && x.shape().last() == w.shape()[turned ? 1 : 0],
               op,
               turned ? "the last sizes of x and w must be equal"
                      : "the last size of x must be the first of w",
               x,
               w);
  return w.shape()[turned ? 0 : 1];
}

}  // namespace

// y = x W + b; db = sum over rows of dy. b may be absent.
Var linear(Var x, Var w, Var bias, Weight how) {
  const Index rows = x.shape().rows(), in = x.shape().last(),
              out = check_sizes("linear", x, w, how);
  if (bias)
    ops::require(bias.shape().size() == out,
                 "linear",
                 "the bias must have the size of the product",
                 w,
                 bias);
  View y = x.tape().allocate(x.shape().with_last(out));
  x.tape().multiply(
      {x.value().data, rows, in}, w, how, false, y.data, out, bias ? bias.value().data : nullptr);
  return x.tape().expendable(
      x.tape().record(y, {x, w, bias}, [=](View dy) { linear_backward(x, w, bias, how, dy); }));
}

Var linear(Var x, Var w) { return linear(x, w, Var()); }

Var add_linear(Var&& base, Var x, Var w) {
  const Index rows = x.shape().rows(), in = x.shape().last(), out = check_sizes("add_linear", x, w);
  ops::require(base.shape() == x.shape().with_last(out),
               "add_linear",
               "base must have the shape of the product",
               base,
               x,
               w);
  Var y = x.tape().take(base);
  x.tape().multiply({x.value().data, rows, in}, w, Weight::as_it_is, true, y.value().data, out);
  return x.tape().record_in_place(
      y, {x, w}, [=](View dy) { linear_backward(x, w, {}, Weight::as_it_is, dy); });
}

Var embedding(Var table, std::span<const Token> ids, Shape leading) {
  ops::require(table.shape().rank() == 2 && leading.size() == static_cast<Index>(ids.size()),
               "embedding",
               "one id for each leading position",
               table);
  const Index size = table.shape()[1], count = leading.size();
  View y = table.tape().allocate(leading.and_last(size));
  for (Index i = 0; i < count; ++i)
    std::copy_n(table.value().data + ids[usize(i)] * size, size, y.data + i * size);
  const Token* rows = ids.data();
  return table.tape().record(y, {table}, [=](View dy) {
    table.tape().keep_gradient();
    table.tape().add_rows(table, rows, dy);
  });
}

}  // namespace softalign
