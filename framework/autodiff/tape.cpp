#include "framework/autodiff/tape.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

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
  if (node_->wanted == Wanted::rows)
    throw BugError("[gradient] a table of shape {} may only be looked up; declare it with add",
                   node_->value.shape.str());
  Node& root = node_->root();
  if (root.gradient == nullptr)
    root.gradient = root.parameter >= 0
                        ? root.tape->gradient_of_parameter(root.parameter, root.value.size())
                        : root.tape->take_gradient(root.value.size());
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
  const bool collects = root().collects_;
  Var var(node(parameter.value(), nullptr, training() && (gradients_ != nullptr || collects)));
  var.node_->parameter = parameter.offset;
  if (var.needs_gradient() && parameter.table && collects) var.node_->wanted = Var::Wanted::rows;
  return var;
}

real* Tape::gradient_of_parameter(Index offset, Index size) {
  if (gradients_ != nullptr) return gradients_ + offset;
  Tape& keeper = root();
  for (const ParameterGradient& one : keeper.parameter_gradients_)
    if (one.offset == offset) return const_cast<real*>(one.numbers);
  Arena& arena = keeper.gradient_arena_;
  real* numbers = (UncomputedProducts::here() ? arena.array({size}) : arena.zeros({size})).data;
  keeper.parameter_gradients_.push_back({offset, size, numbers});
  return numbers;
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
    real* gradient = output.gradient_or_null();
    if (gradient == nullptr) continue;
    leave_step_if_asked();
    outer_products_.finish(gradient, output.value.size());
    running_ = &output;
    step->run(step, {gradient, output.value.shape});
    const Var::Wanted wanted = output.wanted;
    output.wanted = Var::Wanted::no;  // a later gradient() is empty, and no fresh buffer
    if (output.whole != nullptr) continue;
    if (wanted == Var::Wanted::once) give_back(output.gradient, output.value.size());
    output.gradient = nullptr;
  }
  outer_products_.finish();
  if (owner_ != nullptr || collects_) return;
  for (const WeightProduct& one : products_)
    gemm(one.x.transpose(), one.dy, true, gradients_ + one.weight, one.dy.columns);
  products_.clear();
}

void Tape::collect_gradients(WeightPacks& shared) {
  collects_ = true;
  packs_ = &shared;
}

void Tape::multiply(
    Matrix x, Var w, Weight how, bool add, real* c, Index c_stride, const real* bias) {
  // With more rows putting the weight in order is a small part of the product, and a copy of every
  // weight would be a large part of the memory.
  const Index few_rows = training() ? 64 : 512;
  const Matrix as_it_is{w.value().data, w.shape()[0], w.shape()[1]};
  const Matrix weight = how == Weight::transposed ? as_it_is.transpose() : as_it_is;
  if (w.node_->parameter < 0 || x.rows > few_rows)
    gemm(x, weight, add, c, c_stride, bias);
  else
    gemm(x, root().packs_->pack(weight), add, c, c_stride, bias);
}

// What lies on a scratch tape is copied.
Matrix Tape::lasting(Matrix m) {
  if (owner_ == nullptr) return m;
  real* rows = owner_->gradient_arena_.array({m.rows, m.columns}).data;
  for (Index i = 0; i < m.rows; ++i)
    std::copy_n(m.data + i * m.stride, m.columns, rows + i * m.columns);
  return {rows, m.rows, m.columns};
}

void Tape::add_weight_product(Var w, Matrix x, Matrix dy) {
  if (!w.needs_gradient()) return;
  constexpr Index kFewRows = 256;
  if (w.node_->parameter < 0 || (owner_ != nullptr && x.rows >= kFewRows)) {
    gemm(x.transpose(), dy, true, w.gradient().data, dy.columns);
    return;
  }
  root().products_.push_back({w.node_->parameter, lasting(x), lasting(dy)});
}

void Tape::add_rows(Var table, const Token* ids, View dy) {
  const Index size = table.shape()[1], count = dy.size() / size;
  if (table.node_->wanted == Var::Wanted::rows) {
    const real* rows = lasting({dy.data, count, size}).data;
    root().table_gradients_.push_back({table.value().data, size, count, ids, rows});
    return;
  }
  View gradient = table.gradient();
  for (Index i = 0; i < count; ++i)
    kernels::add(size, dy.data + i * size, gradient.data + ids[i] * size);
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
  table_gradients_.clear();
  parameter_gradients_.clear();
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
