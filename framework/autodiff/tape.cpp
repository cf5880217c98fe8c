#include "framework/autodiff/tape.hpp"

#include <algorithm>
#include <iterator>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {

View Var::value() const {
  if (node_->memory == Memory::overwritten)
    throw BugError("[value] an in-place operation has overwritten this value of shape {}",
                   node_->value.shape.str());
  node_->memory = Memory::held;
  return node_->value;
}

View Var::gradient() const {
  if (!needs_gradient()) return {};
  if (node_->parameter >= 0)
    throw BugError(
        "[gradient] a parameter of shape {}: its gradient must not depend on how a batch is "
        "divided; read it by linear, add_bias or another operation for weights, or by "
        "by_sentence(parameter, sentences)",
        node_->value.shape.str());
  const View gradient = own_gradient();
  // Pending products are added first, so that the order of a sum does not depend on the number of steps.
  node_->tape->outer_products_.finish(node_->root().gradient, node_->root().value.size());
  return gradient;
}

View Var::own_gradient() const {
  if (!needs_gradient()) return {};
  Node& root = node_->root();
  if (root.gradient == nullptr) root.gradient = root.tape->take_gradient(root.value.size());
  return {node_->gradient_or_null(), node_->value.shape};
}

// The gradient of a part lies in the gradient of the whole.
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
  // The copy needs a gradient even if x does not: the operation may have other inputs.
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
  if (!gradient) return;  // the losses do not depend on anything that is trained
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
    output.wanted = Var::Wanted::no;  // a later gradient() is empty instead of a new buffer
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

// Weights: products with weights, and the products and rows that make up their gradients.

namespace {

Matrix positions_of(const SentenceRows& rows, Index sentence) {
  return {rows.row(sentence, 0),
          rows.positions,
          rows.columns,
          rows.positions == 1 ? rows.columns : rows.of_position};
}

}  // namespace

void Tape::compute_products() {
  while (!products_.empty()) {
    const WeightProduct first = products_.front();
    of_one_weight_.clear();
    std::copy_if(products_.begin(),
                 products_.end(),
                 std::back_inserter(of_one_weight_),
                 [&](const auto& one) { return one.weight == first.weight; });
    std::erase_if(products_, [&](const auto& one) { return one.weight == first.weight; });
    const Index columns = first.columns, rows = first.rows;
    add_weight_products({&of_one_weight_, 1},
                        {gradients_ + first.weight, rows, columns, 0, columns},
                        gradient_arena_);
  }
}

void Tape::collect_gradients(WeightPacks& shared) {
  collects_ = true;
  packs_ = &shared;
}

void Tape::multiply(
    Matrix x, Var w, Weight how, bool add, real* c, Index c_stride, const real* bias) {
  // With more rows, reordering the weight is a small part of the product, while copies of all
  // weights would take much memory.
  const Index few_rows = training() ? 64 : 512;
  const Matrix as_it_is{w.value().data, w.shape()[0], w.shape()[1]};
  const Matrix weight = how == Weight::transposed ? as_it_is.transpose() : as_it_is;
  if (w.node_->parameter < 0 || x.rows > few_rows)
    gemm(x, weight, add, c, c_stride, bias);
  else
    gemm(x, root().packs_->pack(weight), add, c, c_stride, bias);
}

// Returns rows that last until reset: those on a scratch tape are copied in their layout.
SentenceRows Tape::lasting(const SentenceRows& rows) {
  if (owner_ == nullptr || rows.count() == 0) return rows;
  const Index size = rows.row(rows.sentences - 1, rows.positions - 1) + rows.columns - rows.data;
  SentenceRows copy = rows;
  real* numbers = owner_->gradient_arena_.array({size}).data;
  std::copy_n(rows.data, size, numbers);
  copy.data = numbers;
  return copy;
}

// Throws BugError on a collecting tape, where a sum over sentences would depend on the division of the batch.
void Tape::refuse_shared(Var x) {
  if (root().collects_)
    throw BugError(
        "[gradient] an array of shape {} that all sentences share and that is not a parameter: "
        "compute it for each sentence, from by_sentence(parameter, sentences)",
        x.shape().str());
}

void Tape::put_off(Var w, const WeightProduct& product) {
  WeightProduct one = product;
  const Shape& shape = w.shape();
  one.weight = w.node_->parameter;
  one.rows = shape.rows();
  one.columns = shape.last();
  root().products_.push_back(one);
}

void Tape::add_weight_product(Var w, const SentenceRows& x, const SentenceRows& dy) {
  if (!w.needs_gradient()) return;
  if (x.sentences != dy.sentences || x.positions != dy.positions)
    throw BugError("[add_weight_product] x has {} sentences of {} positions, dy {} of {}",
                   x.sentences,
                   x.positions,
                   dy.sentences,
                   dy.positions);
  if (w.node_->parameter >= 0 && (owner_ == nullptr || x.positions == 1)) {
    put_off(w, {.x = lasting(x), .dy = lasting(dy)});
    return;
  }
  const auto add = [&](Index b, real* dw) {
    gemm(positions_of(x, b).transpose(), positions_of(dy, b), true, dw, dy.columns);
  };
  if (w.node_->parameter >= 0) {  // a scratch tape runs several times: sums by sentence
    const SentenceGradient dw(w, x.sentences, w.shape().size());
    for (Index b = 0; b < x.sentences; ++b) add(b, dw.row(b));
    return;
  }
  refuse_shared(w);
  const View dw = w.gradient();
  for (Index b = 0; b < x.sentences; ++b) add(b, dw.data);
}

void Tape::add_weight_product(Var w, const MadeRows& x, const SentenceRows& dy) {
  if (!w.needs_gradient()) return;
  if (w.node_->parameter >= 0) {
    if (owner_ != nullptr)
      throw BugError("[add_weight_product] rows that are made, on a scratch tape");
    put_off(w, {.made = x, .dy = dy});
    return;
  }
  refuse_shared(w);
  const View dw = w.gradient();
  const Arena::Mark mark = arena_.mark();
  real* row = allocate({w.shape().rows()}).data;
  for (Index b = 0; b < dy.sentences; ++b)
    for (Index s = 0; s < dy.positions_of(b); ++s) {
      x.make(x.from, b, s, row);
      gemm(Matrix{row, 1, w.shape().rows()}.transpose(),
           Matrix{dy.row(b, s), 1, dy.columns},
           true,
           dw.data,
           dy.columns);
    }
  arena_.rewind(mark);
}

void Tape::add_row_sum(Var bias, const SentenceRows& dy) {
  if (!bias.needs_gradient()) return;
  if (bias.node_->parameter >= 0 && (owner_ == nullptr || dy.positions == 1)) {
    put_off(bias, {.dy = lasting(dy)});
    return;
  }
  if (bias.node_->parameter >= 0) {
    const SentenceGradient sums(bias, dy.sentences, dy.columns);
    for (Index b = 0; b < dy.sentences; ++b)
      for (Index s = 0; s < dy.positions_of(b); ++s)
        kernels::add(dy.columns, dy.row(b, s), sums.row(b));
    return;
  }
  refuse_shared(bias);
  const View sum = bias.gradient();
  for (Index b = 0; b < dy.sentences; ++b)
    for (Index s = 0; s < dy.positions_of(b); ++s) kernels::add(dy.columns, dy.row(b, s), sum.data);
}

void Tape::add_rows(Var table, const Token* ids, View dy) {
  if (!table.needs_gradient()) return;
  if (table.node_->parameter >= 0) {
    put_off(table, {.dy = lasting(sentence_rows(dy)), .ids = ids});
    return;
  }
  const Index size = table.shape()[1], count = dy.size() / size;
  const View gradient = table.gradient();
  for (Index i = 0; i < count; ++i)
    kernels::add(size, dy.data + i * size, gradient.data + ids[i] * size);
}

// A parameter has one array of rows, however often it is recorded on a tape.
real* Tape::rows_of_parameter(Var w, Index sentences) {
  Tape& keeper = root();
  for (const Rows& one : keeper.sentence_rows_)
    if (one.parameter == w.node_->parameter) return one.numbers;
  const Index size = w.shape().size();
  Arena& arena = keeper.gradient_arena_;
  const Shape shape{sentences, size};
  real* numbers = (UncomputedProducts::here() ? arena.array(shape) : arena.zeros(shape)).data;
  keeper.sentence_rows_.push_back({w.node_->parameter, numbers});
  put_off(w, {.dy = {numbers, size, sentences}});
  return numbers;
}

SentenceGradient::SentenceGradient(Var v, Index sentences, Index size)
    : sentences_(sentences), size_(size) {
  if (!v.needs_gradient()) return;
  if (v.node_->parameter >= 0) {
    numbers_ = v.tape().rows_of_parameter(v, sentences);
  } else if (v.shape().size() == sentences * size) {
    numbers_ = v.gradient().data;
  } else {
    v.tape().refuse_shared(v);
    sum_of_ = v;
    numbers_ = v.tape().take_gradient(sentences * size_);
  }
}

SentenceGradient::~SentenceGradient() {
  if (!sum_of_) return;
  const View sum = sum_of_.gradient();
  for (Index b = 0; b < sentences_; ++b) kernels::add(size_, row(b), sum.data);
  sum_of_.tape().give_back(numbers_, sentences_ * size_);
}

}  // namespace softalign
