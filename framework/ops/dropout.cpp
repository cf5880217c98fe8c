#include <cstdint>

#include "framework/base/types.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

// A row of the last dimension: whose it is, when, and which of those.
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

using Keep = std::uint8_t;

// Words of a row come in blocks of four; other rows of the same sentence and step have blocks 2^32
// further on.
void draw(const RandomStream& stream,
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

}  // namespace

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
  const auto least = static_cast<std::uint32_t>(rate * 0x1p32);
  const real scale = static_cast<real>(1 / (1 - rate));
  Keep* keep = tape.arena().array_of<Keep>(rows * drawn);
  for (Index r = 0; r < rows; ++r) {
    const DroppedRow at = row_at(shape, axes, r);
    draw(numbers, noise->round(at.sentence, at.step), at.other, least, drawn, keep + r * drawn);
  }
  // Calls f(place, factor) for every number.
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
