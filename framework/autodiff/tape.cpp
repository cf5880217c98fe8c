#include "framework/autodiff/tape.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {
View Var::value() const {
  if (node_->memory == Memory::overwritten)
    throw BugError("[value] an operation that works in place has taken this value of shape {}",
                   node_->value.shape.str());
  node_->memory = Memory::held;
  return node_->value;
}

View Var::gradient() const {
  if (!needs_gradient()) return {};
  if (node_->parameter >= 0)
    throw BugError(
        "[gradient] a parameter of shape {}: its gradient must not depend on how a batch is cut; "
        "let "
        "linear, add_bias or another operation for weights read it, or by_sentence(parameter, "
        "sentences)",
        node_->value.shape.str());
  const View gradient = own_gradient();
  // What waits comes first: the order of a sum must not depend on how many steps there are.
  node_->tape->outer_products_.finish(node_->root().gradient, node_->root().value.size());
  return gradient;
}

View Var::own_gradient() const {
  if (!needs_gradient()) return {};
  Node& root = node_->root();
  if (root.gradient == nullptr) root.gradient = root.tape->take_gradient(root.value.size());
  return {node_->gradient_or_null(), node_->value.shape};
}

// That of a part is the part of that of the whole.
real* Var::Node::gradient_or_null() {
  Node& whole_node = root();
  return whole_node.gradient == nullptr
             ? nullptr
             : whole_node.gradient + (value.data - whole_node.value.data);
}

Var Tape::constant(View value) { return Var(node(value, nullptr, false)); }

Var Tape::leaf(View value, real* gradient) {
  return Var(node(value, gradient, training() && gradient != nullptr));
}

Var Tape::parameter(const Parameter& parameter) {
  Var var(node(parameter.value(),
               nullptr,
               training() && parameter.trained && (gradients_ != nullptr || root().collects_)));
  var.node_->parameter = parameter.offset;
  var.node_->table = parameter.table;
  return var;
}

real* Tape::whole_gradient(Var w) {
  if (w.node_->parameter < 0) return w.own_gradient().data;
  return !w.needs_gradient() || gradients_ == nullptr ? nullptr : gradients_ + w.node_->parameter;
}

Var::Node* Tape::part_of(Var whole, View value, bool needs_gradient, Var::Memory memory) {
  whole.node_->memory = Var::Memory::overwritten;
  Var::Node* part = node(value, nullptr, needs_gradient);
  part->memory = memory;
  part->whole = &whole.node_->root();
  return part;
}

Var Tape::take(Var x) {
  Var::Node& node = *x.node_;
  if (node.memory == Var::Memory::expendable && (x.needs_gradient() || !training()))
    return Var(part_of(x, node.value, x.needs_gradient()));
  View copy = allocate(x.shape());
  std::copy(x.value().begin(), x.value().end(), copy.begin());
  // The gradient is needed whatever x needs: the operation may have other inputs.
  return record_if(copy, true, [=](View dy) {
    if (View dx = x.gradient()) kernels::add(dy.size(), dy.data, dx.data);
  });
}

std::span<const Var> Tape::unstack(Var x) { return parts(take(x), Var::Memory::expendable); }

std::span<const Var> Tape::parts(Var whole, Var::Memory memory) {
  const View value = whole.node_->value;
  const Index count = value.shape[0];
  const Shape of_part = value.shape.without_first();
  Var* parts = arena_.array_of<Var>(count);
  for (Index i = 0; i < count; ++i)
    parts[i] = Var(
        part_of(whole, {value.data + i * of_part.size(), of_part}, whole.needs_gradient(), memory));
  return {parts, usize(count)};
}

void Tape::backward(Var losses, real seed) {
  const View gradient = losses.own_gradient();
  if (!gradient) return;  // depends on nothing that is trained
  for (real& d : gradient) d += seed;
  backward();
}

void Tape::backward_from(Var output, View seed) {
  const View gradient = output.own_gradient();
  if (!gradient) return;
  for (Index i = 0; i < gradient.size(); ++i) gradient.data[i] += seed.data[i];
  backward();
}

void Tape::backward() {
  Step* step = last_;
  last_ = nullptr;  // one backward per recording: a second would add everything twice
  for (; step != nullptr; step = step->previous) {
    Var::Node& output = *step->output;
    real* gradient = output.gradient_or_null();
    if (gradient == nullptr) continue;
    abandon_step_if_asked();
    outer_products_.finish(gradient, output.value.size());
    running_ = &output;
    step->run(step, {gradient, output.value.shape});
    if (output.wanted == Var::Wanted::until_reset) continue;
    output.wanted = Var::Wanted::no;  // a later gradient() is empty, and no fresh buffer
    if (output.whole != nullptr) continue;
    give_back(output.gradient, output.value.size());
    output.gradient = nullptr;
  }
  outer_products_.finish();
  if (owner_ == nullptr && !collects_) compute_products();
}

Tape::FreeBuffer*& Tape::free_buffers(Index size) {
  for (FreeBuffers& list : free_)
    if (list.size == size) return list.first;
  return free_.emplace_back(FreeBuffers{size, nullptr}).first;
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
  return arena_.peak() + gradient_arena_.peak() + outer_products_.peak_bytes() +
         (scratch_ ? scratch_->peak_bytes() : 0);
}

void Tape::reset() {
  rewind({});
  gradient_arena_.rewind({});
  for (FreeBuffers& list : free_) list.first = nullptr;
  products_.clear();
  sentence_rows_.clear();
  outer_products_.reset();
  own_packs_.forget();
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
