// Common code of all recurrent cells: sequences of different lengths in either direction, states carried
// from step to step, and their gradients. Internal to ops. A cell is a type with
//   kSequence, kStep    names in errors
//   kGates              number of arrays [U] side by side in an input, turned into gates in place
//   kStates             number of arrays in a state: h, or h and c
//   units()             U
//   check(op, x)        checks the shapes of x and the weights
//   forward(t)          computes one transition
//   backward(t, d)      computes its gradients, and adds those of the weights
#pragma once

#include <algorithm>
#include <array>

#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign::ops {

// Some rows of one time step. Rows are gate_stride or state_stride apart.
template <std::size_t kStates>
struct Transition {
  Index rows, gate_stride, state_stride;
  std::array<const real*, kStates> previous;  // null: the state before is zero
  const real* fed;  // h as products read it: previous[0], times the dropout mask if there is one
  real* gates;      // x, then the gates
  std::array<real*, kStates> next;
  real* scratch;  // [rows,U]
};

template <std::size_t kStates>
struct TransitionGradients {
  std::array<const real*, kStates> next;  // [rows,U]
  real* gates;                            // written, in the layout of the gates
  std::array<real*, kStates> previous;    // [rows,U], added to
  real* fed;                              // [rows,U], added to; previous[0] when nothing is dropped
};

// One step of a sequence. Sentences are sorted by length, so the ones still alive come first. The
// previous state is that of the neighbouring position `before` for rows [0, carried) and zero for
// rows [carried, alive).
struct Moment {
  Index at, alive, carried, before;
};

class Moments {
 public:
  Moments(Index rows, Index steps, const Index* lengths, bool backwards)
      : rows_(rows), steps_(steps), lengths_(lengths), backwards_(backwards) {}
  Moment operator[](Index i) const {
    Moment p{backwards_ ? steps_ - 1 - i : i, 0, 0, 0};
    p.before = backwards_ ? p.at + 1 : p.at - 1;
    p.alive = alive_at(p.at);
    p.carried = i == 0 ? 0 : backwards_ ? alive_at(p.before) : p.alive;
    return p;
  }

 private:
  Index alive_at(Index position) const {
    Index count = 0;
    while (count < rows_ && lengths_[count] > position) ++count;
    return count;
  }

  Index rows_, steps_;
  const Index* lengths_;
  bool backwards_;
};

inline void check_mask(std::string_view op, Var mask, Index rows, Index units) {
  if (mask) require(mask.shape() == Shape{rows, units}, op, "the mask must be [B,U]", mask);
}

// Records states [kStates, shape...] with their backward. Returns kStates values of that shape.
template <class Cell, class Backward>
std::array<Var, Cell::kStates> record_states(View states, Shape shape, Var gates, Backward f) {
  Tape& tape = gates.tape();  // `gates` was taken, so it needs a gradient whenever the tape trains
  if constexpr (Cell::kStates == 1) {
    return {tape.record({states.data, shape}, {gates}, f)};
  } else {
    const auto parts = tape.outputs(tape.record(states, {gates}, f));
    return {parts[0], parts[1]};
  }
}

// x [B,kGates U], previous kStates times [B,U], mask [B,U] or empty -> the next state
template <class Cell>
std::array<Var, Cell::kStates> cell_step(const Cell& cell,
                                         Var x,
                                         std::array<Var, Cell::kStates> previous,
                                         Var mask) {
  constexpr std::size_t kStates = Cell::kStates;
  const Index rows = x.shape()[0], units = cell.units(), size = rows * units;
  cell.check(Cell::kStep, x);
  check_mask(Cell::kStep, mask, rows, units);
  for (Var state : previous)
    require(
        state.shape() == Shape{rows, units}, Cell::kStep, "a previous state must be [B,U]", state);
  Tape& tape = x.tape();
  Var gates = tape.take(x);
  View next = tape.allocate({static_cast<Index>(kStates), rows, units});
  Transition<kStates> t{
      rows, Cell::kGates * units, units, {}, nullptr, gates.value().data, {}, nullptr};
  for (std::size_t k = 0; k < kStates; ++k) {
    t.previous[k] = previous[k].value().data;
    t.next[k] = next.data + static_cast<Index>(k) * size;
  }
  t.fed = t.previous[0];
  if (mask) {
    View fed = tape.allocate({rows, units});
    kernels::multiply(size, t.fed, mask.value().data, fed.data);
    t.fed = fed.data;
  }
  const Arena::Mark mark = tape.arena().mark();
  t.scratch = tape.allocate({rows, units}).data;
  cell.forward(t);
  tape.arena().rewind(mark);
  return record_states<Cell>(next, {rows, units}, gates, [=, &tape](View dy) {
    tape.keep_gradient(gates);
    TransitionGradients<kStates> d{{}, gates.gradient().data, {}, nullptr};
    const Arena::Mark start = tape.arena().mark();
    Transition<kStates> again = t;
    again.scratch = tape.allocate({rows, units}).data;
    for (std::size_t k = 0; k < kStates; ++k) {
      d.next[k] = dy.data + static_cast<Index>(k) * size;
      d.previous[k] =
          (previous[k].needs_gradient() ? previous[k].gradient() : tape.zeros({rows, units})).data;
    }
    d.fed = mask ? tape.zeros({rows, units}).data : d.previous[0];
    cell.backward(again, d);
    if (mask) kernels::add_product(size, d.fed, mask.value().data, d.previous[0]);
    tape.arena().rewind(start);
  });
}

// All transitions of a sequence, with the data that forward stores for backward.
template <class Cell>
struct Sequence {
  static constexpr std::size_t kStates = Cell::kStates;
  static constexpr Index kGates = Cell::kGates;
  Cell cell;
  Index rows, steps, units;
  Moments moments;
  Var gates, mask;  // [B,S,kGates U], [B,U] or empty
  View states;      // [kStates,B,S,U]
  real* fed;        // [B,S,U], see Transition
  Shape one_step() const { return {static_cast<Index>(kStates), rows, units}; }

  // Returns the transition of rows [first, first + count) at a moment.
  Transition<kStates> transition(const Moment& p, Index first, Index count, real* scratch) const {
    const bool zero = first == p.carried;
    const Index before = (first * steps + p.before) * units, now = (first * steps + p.at) * units;
    Transition<kStates> t{count,
                          steps * kGates * units,
                          steps * units,
                          {},
                          zero ? nullptr : fed + before,
                          gates.value().data + now * kGates,
                          {},
                          scratch};
    for (std::size_t k = 0; k < kStates; ++k) {
      real* all = states.data + static_cast<Index>(k) * rows * steps * units;
      t.previous[k] = zero ? nullptr : all + before;
      t.next[k] = all + now;
    }
    return t;
  }

  // next, previous: [kStates,B,U]
  TransitionGradients<kStates> gradients(
      const Moment& p, Index first, real* dgates, View next, View previous, View dfed) const {
    TransitionGradients<kStates> d{
        {}, dgates + (first * steps + p.at) * kGates * units, {}, mask ? dfed.data : previous.data};
    for (std::size_t k = 0; k < kStates; ++k) {
      const Index at = (static_cast<Index>(k) * rows + first) * units;
      d.next[k] = next.data + at;
      d.previous[k] = previous.data + at;
    }
    return d;
  }

  void forward(Tape& tape) const {
    const Arena::Mark start = tape.arena().mark();
    real* scratch = tape.allocate({rows, units}).data;
    for (Index i = 0; i < steps; ++i) {
      const Moment p = moments[i];
      if (p.carried > 0) cell.forward(transition(p, 0, p.carried, scratch));
      if (p.alive > p.carried) cell.forward(transition(p, p.carried, p.alive - p.carried, scratch));
      for (Index b = 0; mask && b < p.alive; ++b) {
        const Index at = (b * steps + p.at) * units;
        kernels::multiply(units, states.data + at, mask.value().data + b * units, fed + at);
      }
    }
    tape.arena().rewind(start);
  }

  // Adds the gradients that readers of the states at a position left in dstates to next. keep: overwrites
  // them with the sum, the complete gradient.
  void add_asked(const Moment& p, View dstates, View next, bool keep) const {
    for (Index k = 0; k < static_cast<Index>(kStates); ++k)
      for (Index b = 0; b < p.alive; ++b) {
        real* asked = dstates.data + ((k * rows + b) * steps + p.at) * units;
        real* all = next.data + (k * rows + b) * units;
        kernels::add(units, asked, all);
        if (keep) std::copy_n(all, units, asked);
      }
  }

  void backward(Tape& tape, View dstates) const {
    tape.keep_gradient(gates);
    real* dgates = gates.gradient().data;
    const Arena::Mark start = tape.arena().mark();
    View next = tape.zeros(one_step()), previous = tape.allocate(one_step()),
         dfed = tape.allocate({rows, units});
    real* scratch = tape.allocate({rows, units}).data;
    for (Index i = steps - 1; i >= 0; --i) {
      const Moment p = moments[i];
      add_asked(p, dstates, next, tape.keeps_gradient());
      std::fill(previous.begin(), previous.end(), real{0});
      if (p.carried > 0) {
        const Index size = p.carried * units;
        if (mask) std::fill_n(dfed.data, size, real{0});
        cell.backward(transition(p, 0, p.carried, scratch),
                      gradients(p, 0, dgates, next, previous, dfed));
        if (mask) kernels::add_product(size, dfed.data, mask.value().data, previous.data);
      }
      if (p.alive > p.carried)
        cell.backward(transition(p, p.carried, p.alive - p.carried, scratch),
                      gradients(p, p.carried, dgates, next, previous, dfed));
      std::swap(next, previous);
    }
    tape.arena().rewind(start);
  }
};

// x [B,S,kGates U], mask [B,U] or empty -> kStates times [B,S,U], 0 at padding
template <class Cell>
std::array<Var, Cell::kStates> cell_sequence(
    const Cell& cell, Var x, std::span<const Index> lengths, bool backwards, Var mask) {
  cell.check(Cell::kSequence, x);
  const Index rows = x.shape()[0], steps = x.shape()[1], units = cell.units();
  require(x.shape().rank() == 3 && static_cast<Index>(lengths.size()) == rows &&
              std::is_sorted(lengths.rbegin(), lengths.rend()),
          Cell::kSequence,
          "x must be [B,S,...] with lengths [B] that do not increase",
          x);
  check_mask(Cell::kSequence, mask, rows, units);
  Tape& tape = x.tape();
  View states = tape.zeros({static_cast<Index>(Cell::kStates), rows, steps, units});
  real* fed = mask ? tape.allocate({rows, steps, units}).data : states.data;
  const Sequence<Cell> sequence{cell,
                                rows,
                                steps,
                                units,
                                Moments(rows, steps, lengths.data(), backwards),
                                tape.take(x),
                                mask,
                                states,
                                fed};
  sequence.forward(tape);
  return record_states<Cell>(
      states, {rows, steps, units}, sequence.gates, [sequence, &tape](View dstates) {
        sequence.backward(tape, dstates);
      });
}

}  // namespace softalign::ops
