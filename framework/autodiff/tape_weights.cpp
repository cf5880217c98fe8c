// What a tape does with weights: multiplies by them, and collects the products and rows that make up
// their gradients.
#include <algorithm>
#include <iterator>

#include "framework/autodiff/tape.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign {
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

// What lies on a scratch tape is copied, as it lies.
SentenceRows Tape::lasting(const SentenceRows& rows) {
  if (owner_ == nullptr || rows.count() == 0) return rows;
  const Index size = rows.row(rows.sentences - 1, rows.positions - 1) + rows.columns - rows.data;
  SentenceRows copy = rows;
  real* numbers = owner_->gradient_arena_.array({size}).data;
  std::copy_n(rows.data, size, numbers);
  copy.data = numbers;
  return copy;
}

// The sum over the sentences of a part of a batch would be another one for another part.
void Tape::refuse_shared(Var x) {
  if (root().collects_)
    throw BugError(
        "[gradient] an array of shape {} that all sentences share and that is no parameter: "
        "compute it for each of them, from by_sentence(parameter, sentences)",
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
  if (w.node_->parameter >= 0) {  // a scratch tape runs several times: sentences add theirs up
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

// Those of one parameter are the same however often it is put on a tape.
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
