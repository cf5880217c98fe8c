#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
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
  ops::require(begin >= 0 && begin + size <= whole,
               "slice_last",
               "columns begin to begin + size must lie inside the last dimension",
               x);
  View y = x.tape().allocate(x.shape().with_last(size));
  copy_columns(rows, size, x.value().data + begin, whole, y.data, size);
  return x.tape().record(y, {x}, [=](View dy) {
    add_columns(rows, size, dy.data, size, x.gradient().data + begin, whole);
  });
}

Var reshape(Var x, const Shape& shape) {
  ops::require(shape.size() == x.shape().size(), "reshape", "as many numbers as before", x);
  return x.tape().record(View{x.value().data, shape}, {x}, [=](View dy) {
    kernels::add(dy.size(), dy.data, x.gradient().data);
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

std::span<const Var> unstack_steps(Var&& x) {
  ops::require(x.shape().rank() == 3, "unstack_steps", "x must be [T,B,D]", x);
  return x.tape().unstack(x);
}

Var stack_steps(std::span<const Var> steps) { return stack_steps(steps, 1); }

Var stack_steps(std::span<const Var> parts, Index parts_of_a_step) {
  if (parts.empty() || std::ssize(parts) % parts_of_a_step != 0)
    throw BugError("[stack_steps] {} arrays are no steps of {}", parts.size(), parts_of_a_step);
  const Index count = std::ssize(parts), steps = count / parts_of_a_step;
  const Index rows = parts.front().shape()[0];
  Tape& tape = parts.front().tape();
  Index wide = 0;
  for (Index k = 0; k < parts_of_a_step; ++k) wide += parts[usize(k)].shape()[1];
  View y = tape.allocate(Shape::steps_first({steps, rows, wide}));
  Var* kept = tape.arena().array_of<Var>(count);
  bool needed = false;
  // Calls f(part, pointer to its columns in the first row of its step), for y or its gradient.
  const auto for_each = [=](real* numbers, auto f) {
    for (Index i = 0, column = 0; i < count; ++i) {
      if (i % parts_of_a_step == 0) column = 0;
      f(kept[i], numbers + i / parts_of_a_step * rows * wide + column);
      column += kept[i].shape()[1];
    }
  };
  for (Index i = 0; i < count; ++i) {
    Var part = kept[i] = parts[usize(i)];
    const Var first = parts[usize(i % parts_of_a_step)];
    ops::require(part.shape() == first.shape() && part.shape()[0] == rows,
                 "stack_steps",
                 "all steps must have one shape",
                 first,
                 part);
    needed = needed || part.needs_gradient();
  }
  for_each(y.data, [=](Var part, real* to) {
    copy_columns(rows, part.shape()[1], part.value().data, part.shape()[1], to, wide);
  });
  return tape.record_if(y, needed, [=](View dy) {
    for_each(dy.data, [=](Var part, const real* from) {
      if (View g = part.gradient())
        add_columns(rows, part.shape()[1], from, wide, g.data, part.shape()[1]);
    });
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

Var windows(Var x, Index width, std::span<const Index> lengths) {
  ops::require(
      x.shape().rank() == 3 && x.shape()[0] == static_cast<Index>(lengths.size()) && width % 2 == 1,
      "windows",
      "x must be [B,S,D] with a length for each of B, the width odd",
      x);
  const Index rows = x.shape()[0], steps = x.shape()[1], size = x.shape()[2];
  const Index* length = lengths.data();
  View y = x.tape().zeros({rows, steps, width * size});
  // Calls f(count, numbers of x, numbers of the window) for each run of neighbours, which is contiguous.
  const auto for_each = [=](real* numbers, real* all, auto f) {
    for (Index b = 0; b < rows; ++b)
      for (Index s = 0; s < length[b]; ++s) {
        const Index begin = std::max<Index>(0, s - width / 2),
                    end = std::min(length[b], s + width / 2 + 1);
        f((end - begin) * size,
          numbers + (b * steps + begin) * size,
          all + ((b * steps + s) * width + begin - (s - width / 2)) * size);
      }
  };
  for_each(x.value().data, y.data, [](Index count, const real* from, real* to) {
    std::copy_n(from, count, to);
  });
  return x.tape().record(y, {x}, [=](View dy) {
    for_each(x.gradient().data, dy.data, [](Index count, real* to, const real* from) {
      kernels::add(count, from, to);
    });
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
