#include "framework/eval/beam_rows.hpp"
#include "framework/base/types.hpp"

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

BeamRows::BeamRows(Tape& tape, std::vector<Model::Source> whole, Index capacity)
    : tape_(tape),
      capacity_(capacity),
      whole_(std::move(whole)),
      now_(whole_.size()),
      held_(tape.arena().array_of<Index>(capacity)),
      waiting_(tape.arena().array_of<Index>(std::ssize(whole_.front().memory.lengths))) {
  std::fill_n(held_, capacity, -1);
  for (const Model::Source& one : whole_) arrays_.push_back(arrays_of(one));
}

BeamRows::Arrays BeamRows::arrays_of(const Model::Source& whole) const {
  return {rows_like(whole.memory.keys),
          rows_like(whole.memory.values),
          tape_.arena().array_of<Index>(capacity_),
          std::vector<Buffer>(whole.state.size()),
          std::vector<Buffer>(whole.state.size())};
}

View BeamRows::rows_like(Var array) const {
  return array ? tape_.allocate(with_first(array.shape(), capacity_)) : View();
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

void BeamRows::place(std::span<LiveHypothesis> live, std::span<const State> states) {
  count_ = std::ssize(live);
  assign_rows(live);
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    Arrays& arrays = arrays_[m];
    arrays.step = states[m].step;
    for (std::size_t k = 0; k < arrays.state.size(); ++k) {
      const View from = states[m][k].value();
      shape_like(from, arrays.spare[k]);
      for (const LiveHypothesis& one : live)
        copy_row(from, one.from, arrays.spare[k].rows, one.row);
    }
    arrays.state.swap(arrays.spare);
  }
}

void BeamRows::assign_rows(std::span<LiveHypothesis> live) {
  std::fill_n(waiting_, whole_.front().memory.lengths.size(), count_);
  for (Index i = count_ - 1; i >= 0; --i) {
    live[usize(i)].row = -1;
    waiting_[live[usize(i)].sentence] = i;
  }
  for (Index row = 0; row < count_; ++row) {
    if (held_[row] < 0) continue;
    const auto i = usize(waiting_[held_[row]]);
    if (i < live.size() && live[i].sentence == held_[row]) {
      live[i].row = row;
      ++waiting_[held_[row]];
    } else {
      held_[row] = -1;
    }
  }
  Index free = 0;
  for (LiveHypothesis& one : live) {
    if (one.row >= 0) continue;
    while (held_[free] >= 0) ++free;
    one.row = free;
    held_[free] = one.sentence;
    copy_memory(one.sentence, free);
  }
}

void BeamRows::copy_memory(Index sentence, Index row) {
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    const AttentionMemory& memory = whole_[m].memory;
    Arrays& arrays = arrays_[m];
    arrays.lengths[row] = memory.lengths[usize(sentence)];
    if (arrays.keys) copy_row(memory.keys.value(), sentence, arrays.keys, row);
    if (arrays.values) copy_row(memory.values.value(), sentence, arrays.values, row);
  }
}

std::span<const Model::Source> BeamRows::sources() {
  for (std::size_t m = 0; m < arrays_.size(); ++m) {
    const Arrays& arrays = arrays_[m];
    AttentionMemory& memory = now_[m].memory;
    memory =
        Memory{first_rows(arrays.keys), first_rows(arrays.values), {arrays.lengths, usize(count_)}};
    memory.source = whole_[m].memory.source;
    memory.rows = {held_, usize(count_)};
    now_[m].state = {};
    now_[m].state.step = arrays.step;
    for (const Buffer& buffer : arrays.state) now_[m].state.push(first_rows(buffer.rows));
  }
  return now_;
}

Var BeamRows::first_rows(View array) const {
  return array ? tape_.constant({array.data, with_first(array.shape, count_)}) : Var();
}

}  // namespace softalign
