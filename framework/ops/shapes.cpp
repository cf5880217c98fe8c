#include <algorithm>
#include <cmath>

#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

// Copies or adds `columns` numbers of each row between two arrays with their own row strides.
void copy_columns(
    Index rows, Index columns, const real* from, Index from_stride, real* to, Index to_stride) {
  for (Index r = 0; r < rows; ++r) std::copy_n(from + r * from_stride, columns, to + r * to_stride);
}
void add_columns(
    Index rows, Index columns, const real* from, Index from_stride, real* to, Index to_stride) {
  for (Index r = 0; r < rows; ++r)
    kernels::add(columns, from + r * from_stride, to + r * to_stride);
}

}  // namespace

Var concat_last(Var a, Var b) {
  const Index rows = a.shape().rows(), da = a.shape().last(), db = b.shape().last();
  ops::require(b.shape().rows() == rows, "concat_last", "the leading sizes must be equal", a, b);
  View y = a.tape().allocate(a.shape().with_last(da + db));
  copy_columns(rows, da, a.value().data, da, y.data, da + db);
  copy_columns(rows, db, b.value().data, db, y.data + da, da + db);
  return a.tape().record(y, {a, b}, [=](View dy) {
    if (View g = a.gradient()) add_columns(rows, da, dy.data, da + db, g.data, da);
    if (View g = b.gradient()) add_columns(rows, db, dy.data + da, da + db, g.data, db);
  });
}

Var slice_last(Var x, Index begin, Index size) {
  const Index rows = x.shape().rows(), whole = x.shape().last();
  ops::require(begin >= 0 && begin + size <= whole, "slice_last", "the slice must lie inside", x);
  View y = x.tape().allocate(x.shape().with_last(size));
  copy_columns(rows, size, x.value().data + begin, whole, y.data, size);
  return x.tape().record(y, {x}, [=](View dy) {
    add_columns(rows, size, dy.data, size, x.gradient().data + begin, whole);
  });
}

Var select_step(Var x, Index step) {
  ops::require(x.shape().rank() == 3 && step < x.shape()[1], "select_step", "x must be [B,T,D]", x);
  const Index rows = x.shape()[0], steps = x.shape()[1], size = x.shape()[2];
  View y = x.tape().allocate({rows, size});
  copy_columns(rows, size, x.value().data + step * size, steps * size, y.data, size);
  return x.tape().record(y, {x}, [=](View dy) {
    add_columns(rows, size, dy.data, size, x.gradient().data + step * size, steps * size);
  });
}

Var stack_steps(std::span<const Var> steps) {
  if (steps.empty()) throw BugError("[stack_steps] no steps");
  const Shape shape = steps.front().shape();
  const Index rows = shape[0], size = shape[1], count = static_cast<Index>(steps.size());
  Tape& tape = steps.front().tape();
  View y = tape.allocate({rows, count, size});
  Var* kept = tape.arena().array_of<Var>(count);
  bool needed = false;
  for (Index t = 0; t < count; ++t) {
    Var step = steps[static_cast<std::size_t>(t)];
    ops::require(
        step.shape() == shape, "stack_steps", "all steps must have one shape", steps.front(), step);
    copy_columns(rows, size, step.value().data, size, y.data + t * size, count * size);
    kept[t] = step;
    needed = needed || step.needs_gradient();
  }
  return tape.record_if(y, needed, [=](View dy) {
    for (Index t = 0; t < count; ++t)
      if (View g = kept[t].gradient())
        add_columns(rows, size, dy.data + t * size, count * size, g.data, size);
  });
}

Var select_last_valid(Var x, std::span<const Index> lengths) {
  ops::require(x.shape().rank() == 3 && x.shape()[0] == static_cast<Index>(lengths.size()),
               "select_last_valid",
               "x must be [B,S,D] with a length for each of B",
               x);
  const Index rows = x.shape()[0], steps = x.shape()[1], size = x.shape()[2];
  View y = x.tape().allocate({rows, size});
  const Index* length = lengths.data();
  for (Index b = 0; b < rows; ++b)
    std::copy_n(x.value().data + (b * steps + length[b] - 1) * size, size, y.data + b * size);
  return x.tape().record(y, {x}, [=](View dy) {
    View dx = x.gradient();
    for (Index b = 0; b < rows; ++b)
      kernels::add(size, dy.data + b * size, dx.data + (b * steps + length[b] - 1) * size);
  });
}

// y = x / n with n = sqrt(|x|² + epsilon²); dx = (dy - y (y . dy)) / n
Var normalize_last(Var x, real epsilon) {
  const Index rows = x.shape().rows(), size = x.shape().last();
  View y = x.tape().allocate(x.shape());
  View norms = x.tape().allocate({rows});
  for (Index r = 0; r < rows; ++r) {
    const real* row = x.value().data + r * size;
    norms.data[r] = std::sqrt(kernels::dot(size, row, row) + epsilon * epsilon);
    kernels::scale(size, 1 / norms.data[r], row, y.data + r * size);
  }
  return x.tape().record(y, {x}, [=](View dy) {
    View dx = x.gradient();
    for (Index r = 0; r < rows; ++r) {
      const real* row = y.data + r * size;
      const real along = kernels::dot(size, row, dy.data + r * size);
      kernels::add_scaled(size, 1 / norms.data[r], dy.data + r * size, dx.data + r * size);
      kernels::add_scaled(size, -along / norms.data[r], row, dx.data + r * size);
    }
  });
}

}  // namespace softalign
