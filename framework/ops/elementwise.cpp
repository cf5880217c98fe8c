#include <cstdint>

#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/draw.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

// Records y = f(x) whose derivative is a function of y alone.
template <class Forward, class Backward>
Var map(Var x, Forward forward, Backward backward) {
  View y = x.tape().allocate(x.shape());
  forward(y.size(), x.value().data, y.data);
  return x.tape().record(
      y, {x}, [=](View dy) { backward(dy.size(), y.data, dy.data, x.gradient().data); });
}

}  // namespace

Var tanh(Var x) { return map(x, kernels::tanh_forward, kernels::tanh_backward); }
Var sigmoid(Var x) { return map(x, kernels::sigmoid_forward, kernels::sigmoid_backward); }
Var relu(const Var& x) { return map(x, kernels::relu_forward, kernels::relu_backward); }

// In place: turns the gradient of y into that of x.
Var relu(Var&& x) {
  Var y = x.tape().take(x);
  const View numbers = y.value();
  kernels::relu_forward(numbers.size(), numbers.data, numbers.data);
  return x.tape().record_in_place(
      y, {}, [=](View dy) { kernels::relu_backward_in_place(dy.size(), numbers.data, dy.data); });
}

Var maxout(Var x) {
  ops::require(x.shape().last() % 2 == 0, "maxout", "the last size must be even", x);
  View y = x.tape().allocate(x.shape().with_last(x.shape().last() / 2));
  kernels::maxout_forward(y.size(), x.value().data, y.data);
  return x.tape().record(y, {x}, [=](View dy) {
    kernels::maxout_backward(dy.size(), x.value().data, dy.data, x.gradient().data);
  });
}

Var operator+(Var a, Var b) {
  ops::require(a.shape() == b.shape(), "+", "the shapes must be equal", a, b);
  View y = a.tape().allocate(a.shape());
  std::copy(a.value().begin(), a.value().end(), y.begin());
  kernels::add(y.size(), b.value().data, y.data);
  return a.tape().record(y, {a, b}, [=](View dy) {
    if (View da = a.gradient()) kernels::add(dy.size(), dy.data, da.data);
    if (View db = b.gradient()) kernels::add(dy.size(), dy.data, db.data);
  });
}

Var operator-(Var a, Var b) { return a + real{-1} * b; }

Var operator*(Var a, Var b) {
  ops::require(a.shape() == b.shape(), "*", "the shapes must be equal", a, b);
  View y = a.tape().allocate(a.shape());
  kernels::multiply(y.size(), a.value().data, b.value().data, y.data);
  return a.tape().record(y, {a, b}, [=](View dy) {
    if (View da = a.gradient()) kernels::add_product(dy.size(), dy.data, b.value().data, da.data);
    if (View db = b.gradient()) kernels::add_product(dy.size(), dy.data, a.value().data, db.data);
  });
}

Var operator*(real factor, Var x) {
  View y = x.tape().allocate(x.shape());
  kernels::scale(y.size(), factor, x.value().data, y.data);
  return x.tape().record(
      y, {x}, [=](View dy) { kernels::add_scaled(dy.size(), factor, dy.data, x.gradient().data); });
}

Var add(Var&& base, Var x) {
  ops::require(base.shape() == x.shape(), "add", "the shapes must be equal", base, x);
  Var y = x.tape().take(base);
  kernels::add(x.shape().size(), x.value().data, y.value().data);
  return x.tape().record_in_place(y, {x}, [=](View dy) {
    if (View dx = x.gradient()) kernels::add(dy.size(), dy.data, dx.data);
  });
}

Var add_bias(Var x, Var bias) {
  ops::require(bias.shape().size() == x.shape().last(),
               "add_bias",
               "the bias must have the last size of x",
               x,
               bias);
  View y = x.tape().allocate(x.shape());
  std::copy(x.value().begin(), x.value().end(), y.begin());
  kernels::add_rows(y.shape.rows(), y.shape.last(), bias.value().data, y.data);
  return x.tape().record(y, {x, bias}, [=](View dy) {
    if (View dx = x.gradient()) kernels::add(dy.size(), dy.data, dx.data);
    x.tape().keep_gradient();
    x.tape().add_row_sum(bias, sentence_rows(dy));
  });
}

Var by_sentence(Var x, Index sentences) {
  const Index size = x.shape().size();
  View y = x.tape().allocate({sentences, size});
  for (Index b = 0; b < sentences; ++b) std::copy_n(x.value().data, size, y.data + b * size);
  return x.tape().record(y, {x}, [=](View dy) {
    const SentenceGradient dx(x, sentences, size);
    if (dx) kernels::add(dy.size(), dy.data, dx.data());
  });
}

Var sum(Var x) {
  View y = x.tape().zeros({1});
  for (real value : x.value()) y.data[0] += value;
  return x.tape().record(y, {x}, [=](View dy) {
    for (real& d : x.gradient()) d += dy.data[0];
  });
}

namespace {

// A row of the last dimension: its sentence, its step, and its index among the rows of both.
struct DroppedRow {
  Index sentence, step, other;
};

DroppedRow row_at(const Shape& shape, DropoutAxes axes, Index row) {
  DroppedRow at{0, axes.step, 0};
  Index others = 1;
  for (int axis = shape.rank() - 2; axis >= 0; --axis) {
    const Index place = row % shape[axis];
    row /= shape[axis];
    if (axis == axes.sentences)
      at.sentence = place;
    else if (axis == axes.steps)
      at.step = axes.steps_differ ? place : axes.step;
    else {
      at.other += others * place;
      others *= shape[axis];
    }
  }
  return at;
}

}  // namespace

void ops::draw(const RandomStream& stream,
               std::uint64_t round,
               Index other,
               std::uint32_t least,
               Index count,
               Keep* keep) {
  const std::uint64_t first = static_cast<std::uint64_t>(other) << 32;
  for (Index i = 0; i < count; i += 4) {
    const Philox words = stream.words(first + static_cast<std::uint64_t>(i / 4), round);
    for (Index k = 0; k < std::min<Index>(4, count - i); ++k)
      keep[i + k] = words[usize(k)] >= least;
  }
}

Var dropout(Var x, double rate, const RandomStream& stream, DropoutAxes axes, DropoutUnit unit) {
  Tape& tape = x.tape();
  const Noise* noise = tape.noise();
  if (noise == nullptr) throw BugError("[dropout] the tape has no noise");
  const Shape& shape = x.shape();
  const int leading = shape.rank() - 1;
  ops::require(leading >= 1 && axes.sentences >= 0 && axes.sentences < leading &&
                   axes.steps < leading && axes.steps != axes.sentences &&
                   shape[axes.sentences] == std::ssize(noise->examples),
               "dropout",
               "x must have an axis of sentences, and another of steps if any, before its last",
               x);
  const Index rows = shape.rows(), size = shape.last(),
              drawn = unit == DropoutUnit::number ? size : 1;
  const RandomStream numbers = noise->stream(stream);
  const std::uint32_t least = ops::least_kept(rate);
  const real scale = static_cast<real>(1 / (1 - rate));
  ops::Keep* keep = tape.arena().array_of<ops::Keep>(rows * drawn);
  for (Index r = 0; r < rows; ++r) {
    const DroppedRow at = row_at(shape, axes, r);
    ops::draw(
        numbers, noise->round(at.sentence, at.step), at.other, least, drawn, keep + r * drawn);
  }
  // Calls f(offset, factor) for every number.
  const auto for_each = [=](auto f) {
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < size; ++c)
        f(r * size + c, keep[r * drawn + (drawn == size ? c : 0)] != 0 ? scale : real{0});
  };
  View y = tape.allocate(shape);
  for_each(
      [to = y.data, from = x.value().data](Index i, real factor) { to[i] = factor * from[i]; });
  return tape.expendable(tape.record(y, {x}, [=](View dy) {
    for_each([dx = x.gradient().data, from = dy.data](Index i, real factor) {
      dx[i] += factor * from[i];
    });
  }));
}

}  // namespace softalign
