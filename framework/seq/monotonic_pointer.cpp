#include "framework/seq/monotonic_pointer.hpp"

#include <algorithm>

#include "framework/nn/initializers.hpp"

namespace softalign {
namespace {

View where_positive(Tape& tape, View energies) {  // 1 where an energy is above 0, else 0
  View stop = tape.allocate(energies.shape);
  std::transform(energies.begin(), energies.end(), stop.begin(), [](real e) {
    return e > 0 ? real{1} : real{0};
  });
  return stop;
}

}  // namespace

MonotonicPointer::MonotonicPointer(const Parameters& p, const Options& options)
    : offset_(p.add("r", {1}, init::constant(options.offset))),
      noise_(options.noise),
      hard_(options.test == "hard"),
      stream_(0, "noise/" + p.name_of("energies")) {}

Var MonotonicPointer::start(const AttentionMemory& memory) const {
  Tape& tape = memory.values.tape();
  const Index positions = memory.values.shape()[1];
  View at = tape.zeros({memory.values.shape()[0], positions});
  for (Index i = 0; i < at.size(); i += positions) at.data[i] = 1;
  return tape.constant(at);
}

Var MonotonicPointer::move(Var energies,
                           Var from,
                           std::span<const Index> lengths,
                           Index step) const {
  Tape& tape = energies.tape();
  energies = shift_by(energies, tape.parameter(*offset_));
  if (tape.noise() != nullptr && noise_ > 0)
    energies = energies + tape.constant(draw(tape, energies.shape(), step));
  const bool hard = hard_ && tape.noise() == nullptr;
  Var stop = hard ? tape.constant(where_positive(tape, energies.value())) : sigmoid(energies);
  return monotonic_prefix(stop, from, lengths);
}

View MonotonicPointer::draw(Tape& tape, const Shape& shape, Index step) const {
  const RandomStream numbers = tape.noise()->stream(stream_);
  View noise = tape.allocate(shape);
  for (Index i = 0; i < noise.size(); ++i)
    noise.data[i] =
        static_cast<real>(noise_ * numbers.normal(static_cast<std::uint64_t>(i % shape.last()),
                                                  tape.noise()->round(i / shape.last(), step)));
  return noise;
}

}  // namespace softalign
