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
      lengths_(tape.arena().array_of<Index>(capacity)),
      held_(tape.arena().array_of<Index>(capacity)),
      waiting_(tape.arena().array_of<Index>(std::ssize(whole.memory.lengths))) {
  std::fill_n(held_, capacity, -1);
  const auto rows_like = [&](Var var) { return tape.allocate(with_first(var.shape(), capacity)); };
  keys_ = rows_like(whole.memory.keys);
  if (whole.memory.values) values_ = rows_like(whole.memory.values);
  for (std::size_t k = 0; k < whole.state.size(); ++k) {
    state_.push_back(rows_like(whole.state[k]));
    spare_.push_back(rows_like(whole.state[k]));
  }
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
    for (std::size_t k = 0; k < state_.size(); ++k)
      copy_row(state[k].value(), one.from, spare_[k], one.row);
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
  for (View array : state_) source.state.push(first_rows(array));
  return source;
}

Var BeamRows::first_rows(View array) const {
  return tape_.constant({array.data, with_first(array.shape, count_)});
}

}  // namespace softalign
