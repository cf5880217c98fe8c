#include "framework/eval/beam_rows.hpp"

#include <algorithm>

namespace softalign {
namespace {

Shape with_first(const Shape& s, Index size) {
  if (s.rank() == 1) return {size};
  if (s.rank() == 2) return {size, s[1]};
  if (s.rank() == 3) return {size, s[1], s[2]};
  return {size, s[1], s[2], s[3]};
}

void copy_row(View from, Index from_row, View to, Index to_row) {
  const Index each = from.size() / from.shape[0];
  std::copy_n(from.data + from_row * each, each, to.data + to_row * each);
}

}  // namespace

BeamRows::BeamRows(Tape& tape, const Model::Source& whole, Index capacity)
    : tape_(tape),
      whole_(whole),
      capacity_(capacity),
      state_(whole.state.size()),
      spare_(whole.state.size()),
      lengths_(tape.arena().array_of<Index>(capacity)),
      held_(tape.arena().array_of<Index>(capacity)),
      waiting_(tape.arena().array_of<Index>(std::ssize(whole.memory.lengths))) {
  std::fill_n(held_, capacity, -1);
  const auto rows_like = [&](Var var) { return tape.allocate(with_first(var.shape(), capacity)); };
  keys_ = rows_like(whole.memory.keys);
  if (whole.memory.values) values_ = rows_like(whole.memory.values);
}

// One that has become too small is left behind on the second tape: at twice the size every time,
// all of them together are no larger than the last.
void BeamRows::shape_like(View array, Buffer& buffer) const {
  const Shape shape = with_first(array.shape, capacity_);
  if (!buffer.rows || buffer.room < shape.size()) {
    buffer.room = std::max(shape.size(), 2 * buffer.room);
    buffer.rows.data = tape_.scratch().allocate({buffer.room}).data;
  }
  buffer.rows.shape = shape;
}

void BeamRows::place(std::span<LiveHypothesis> live, const State& state) {
  count_ = std::ssize(live);
  step_ = state.step;
  std::fill_n(waiting_, whole_.memory.lengths.size(), count_);
  for (Index i = count_ - 1; i >= 0; --i) {
    live[static_cast<std::size_t>(i)].row = -1;
    waiting_[live[static_cast<std::size_t>(i)].sentence] = i;
  }
  for (Index row = 0; row < count_; ++row) {
    if (held_[row] < 0) continue;
    const auto i = static_cast<std::size_t>(waiting_[held_[row]]);
    if (i < live.size() && live[i].sentence == held_[row]) {
      live[i].row = row;
      ++waiting_[held_[row]];
    } else {
      held_[row] = -1;
    }
  }
  Index free = 0;
  for (LiveHypothesis& one : live) {
    if (one.row < 0) {
      while (held_[free] >= 0) ++free;
      one.row = free;
      held_[free] = one.sentence;
      lengths_[free] = whole_.memory.lengths[static_cast<std::size_t>(one.sentence)];
      copy_row(whole_.memory.keys.value(), one.sentence, keys_, free);
      if (values_) copy_row(whole_.memory.values.value(), one.sentence, values_, free);
    }
  }
  for (std::size_t k = 0; k < state_.size(); ++k) {
    const View from = state[k].value();
    shape_like(from, spare_[k]);
    for (const LiveHypothesis& one : live) copy_row(from, one.from, spare_[k].rows, one.row);
  }
  state_.swap(spare_);
}

Model::Source BeamRows::source() const {
  Model::Source source;
  source.memory = {first_rows(keys_),
                   values_ ? first_rows(values_) : Var(),
                   {lengths_, static_cast<std::size_t>(count_)},
                   whole_.memory.links,
                   {held_, static_cast<std::size_t>(count_)}};
  source.state.step = step_;
  for (const Buffer& buffer : state_) source.state.push(first_rows(buffer.rows));
  return source;
}

Var BeamRows::first_rows(View array) const {
  return tape_.constant({array.data, with_first(array.shape, count_)});
}

}  // namespace softalign
