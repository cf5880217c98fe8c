#include "framework/train/weight_gradients.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {
namespace {

constexpr Index kChunk = 1 << 14;  // numbers that are cleared or squared in one piece
constexpr Index kColumns = 256;    // of a weight that are computed in one piece

}  // namespace

WeightGradients::WeightGradients(const ParameterStore& store)
    : numbers_(usize(store.dense_size())), squares_((numbers_.size() + kChunk - 1) / kChunk) {
  for (const Parameter& parameter : store.all()) {
    if (parameter.table || !parameter.trained) continue;
    const Shape& shape = parameter.shape;
    weights_.push_back({parameter.offset, shape.rows(), shape.last(), {}});
    for (Index first = 0; first < shape.last(); first += kColumns)
      pieces_.push_back({weights_.size() - 1, first, std::min(kColumns, shape.last() - first)});
  }
}

void WeightGradients::clear(Workers& workers) {
  workers.run(std::ssize(squares_), [&](Index chunk) {
    const Index begin = chunk * kChunk, end = std::min(begin + kChunk, std::ssize(numbers_));
    std::fill(numbers_.begin() + begin, numbers_.begin() + end, real{0});
  });
}

void WeightGradients::add(std::span<const std::unique_ptr<Tape>> tapes, Workers& workers) {
  for (Weight& weight : weights_) {
    weight.summands.resize(std::max(weight.summands.size(), tapes.size()));
    for (Summand& summand : weight.summands) {
      summand.products.clear();
      summand.direct = nullptr;
    }
  }
  for (std::size_t i = 0; i < tapes.size(); ++i) {
    for (const WeightProduct& product : tapes[i]->weight_products())
      weight_at(product.weight).summands[i].products.push_back(product);
    for (const Tape::ParameterGradient& one : tapes[i]->parameter_gradients())
      weight_at(one.offset).summands[i].direct = one.numbers;
  }
  workers.run(std::ssize(pieces_), [&](Index i) { compute(pieces_[usize(i)]); });
}

WeightGradients::Weight& WeightGradients::weight_at(Index offset) {
  return *std::lower_bound(
      weights_.begin(), weights_.end(), offset, [](const Weight& weight, Index at) {
        return weight.offset < at;
      });
}

void WeightGradients::compute(const Piece& piece) {
  const Weight& weight = weights_[piece.weight];
  real* numbers = numbers_.data() + weight.offset;
  thread_local Arena scratch;
  for (const Summand& summand : weight.summands) {
    add_weight_products(
        summand.products, piece.first, piece.count, numbers, weight.columns, scratch);
    if (summand.direct == nullptr) continue;
    for (Index row = 0; row < weight.rows; ++row) {
      const Index at = row * weight.columns + piece.first;
      kernels::add(piece.count, summand.direct + at, numbers + at);
    }
  }
}

double WeightGradients::sum_of_squares(Workers& workers) {
  workers.run(std::ssize(squares_), [&](Index chunk) {
    const Index begin = chunk * kChunk, end = std::min(begin + kChunk, std::ssize(numbers_));
    squares_[usize(chunk)] = kernels::sum_of_squares(end - begin, numbers_.data() + begin);
  });
  double sum = 0;
  for (double square : squares_) sum += square;
  return sum;
}

}  // namespace softalign
