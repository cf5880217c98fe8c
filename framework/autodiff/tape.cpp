#include "framework/autodiff/tape.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {

View Var::gradient() const {
  if (!node_->needs_gradient) return {};
  if (node_->rows_only)
    throw BugError("[gradient] a table of shape {} may only be looked up; declare it with add",
                   node_->value.shape.str());
  if (node_->gradient == nullptr) node_->gradient = node_->tape->take_gradient(node_->value.size());
  return {node_->gradient, node_->value.shape};
}

Var Tape::constant(View value) { return Var(arena_.make<Var::Node>(value, nullptr, this, false)); }

Var Tape::leaf(View value, real* gradient) {
  return Var(arena_.make<Var::Node>(value, gradient, this, training() && gradient != nullptr));
}

Var Tape::parameter(const Parameter& parameter) {
  Var var =
      leaf(parameter.value(), gradients_ == nullptr ? nullptr : gradients_ + parameter.offset);
  if (parameter.table && root().collects_rows_) {
    var.node_->gradient = nullptr;
    var.node_->rows_only = true;
  }
  return var;
}

void Tape::backward(Var loss, real seed) {
  if (loss.shape().size() != 1)
    throw BugError("[backward] the loss must be one number, not {}", loss.shape().str());
  backward_from(loss, {&seed, loss.shape()});
}

void Tape::backward_from(Var output, View seed) {
  View gradient = output.gradient();
  if (!gradient) return;  // depends on nothing that is trained
  for (Index i = 0; i < gradient.size(); ++i) gradient.data[i] += seed.data[i];
  run_backward();
}

void Tape::run_backward() {
  Step* step = last_;
  last_ = nullptr;  // one backward per recording: a second would add everything twice
  for (; step != nullptr; step = step->previous) {
    Var::Node& output = *step->output;
    if (output.gradient == nullptr) continue;
    outer_products_.finish(output.gradient);
    step->run(step, {output.gradient, output.value.shape});
    give_back(output.gradient, output.value.size());
    output.gradient = nullptr;
    output.needs_gradient = false;  // whoever asks later gets none, not a fresh one
  }
  outer_products_.finish();
  if (owner_ == nullptr) products_.finish();
}

void Tape::add_rows(Var table, const Token* ids, View dy) {
  const Index size = table.shape()[1], count = dy.size() / size;
  if (table.node_->rows_only) {
    Tape& keeper = root();
    View rows = keeper.gradient_arena_.array({count, size});
    std::copy(dy.begin(), dy.end(), rows.begin());
    keeper.table_gradients_.push_back({table.value().data, size, count, ids, rows.data});
    return;
  }
  View gradient = table.gradient();
  for (Index i = 0; i < count; ++i)
    kernels::add(size, dy.data + i * size, gradient.data + ids[i] * size);
}

Tape::FreeBuffer*& Tape::free_buffers(Index size) {
  for (FreeBuffers& list : free_)
    if (list.size == size) return list.first;
  return free_.emplace_back(size, nullptr).first;
}

real* Tape::take_gradient(Index size) {
  FreeBuffer*& first = free_buffers(size);
  if (first == nullptr) return gradient_arena_.zeros({size}).data;
  real* gradient = reinterpret_cast<real*>(first);
  first = first->next;
  std::fill_n(gradient, size, real{0});
  return gradient;
}

void Tape::give_back(real* gradient, Index size) {
  FreeBuffer*& first = free_buffers(size);
  first = new (gradient) FreeBuffer{first};
}

std::size_t Tape::peak_bytes() const {
  return arena_.peak() + gradient_arena_.peak() + products_.peak_bytes() +
         outer_products_.peak_bytes() + (scratch_ ? scratch_->peak_bytes() : 0);
}

void Tape::reset() {
  rewind({});
  gradient_arena_.rewind({});
  for (FreeBuffers& list : free_) list.first = nullptr;
  table_gradients_.clear();
  products_.reset();
  outer_products_.reset();
  if (scratch_) scratch_->reset();
}

void Tape::rewind(Mark mark) {
  arena_.rewind(mark.arena);
  last_ = static_cast<Step*>(mark.last);
}

Tape& Tape::scratch() {
  if (!scratch_) {
    scratch_ = std::make_unique<Tape>(mode_, gradients_);
    scratch_->owner_ = owner_ == nullptr ? this : owner_;
  }
  return *scratch_;
}

}  // namespace softalign
