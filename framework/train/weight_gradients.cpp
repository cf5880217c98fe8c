#include "framework/train/weight_gradients.hpp"

#include <algorithm>

#include "framework/base/pages.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {
namespace {

constexpr Index kClearedChunk = 1 << 14;  // numbers that are cleared or squared in one piece
constexpr Index kGradientColumns = 256;   // of a weight that are computed in one piece, at least

}  // namespace

WeightGradients::WeightGradients(const ParameterStore& store, int threads)
    : numbers_(zeros_in_large_pages(store.dense_size())),
      squares_((numbers_.size() + kClearedChunk - 1) / kClearedChunk) {
  for (const Parameter& parameter : store.all()) {
    if (parameter.table || !parameter.trained) continue;
    const Shape& shape = parameter.shape;
    weights_.push_back({parameter.offset, shape.rows(), shape.last(), {}});
    // Wide pieces: each of them reads all that the columns are multiplied with.
    const Index width = std::max(kGradientColumns, (shape.last() / threads + 31) / 32 * 32);
    for (Index first = 0; first < shape.last(); first += width)
      pieces_.push_back({weights_.size() - 1, first, std::min(width, shape.last() - first)});
  }
}

void WeightGradients::clear(Workers& workers) {
  workers.run(std::ssize(squares_), [&](Index chunk) {
    const Index begin = chunk * kClearedChunk,
                end = std::min(begin + kClearedChunk, std::ssize(numbers_));
    std::fill(numbers_.begin() + begin, numbers_.begin() + end, real{0});
  });
}

void WeightGradients::add(std::span<const Tape* const> tapes, Workers& workers) {
  for (Weight& weight : weights_) {
    weight.parts.resize(std::max(weight.parts.size(), tapes.size()));
    for (WeightProducts& part : weight.parts) part.clear();
  }
  for (std::size_t i = 0; i < tapes.size(); ++i)
    for (const WeightProduct& product : tapes[i]->weight_products())
      if (product.weight < std::ssize(numbers_))
        weight_at(product.weight).parts[i].push_back(product);
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
  thread_local Arena scratch;
  add_weight_products(
      weight.parts,
      {numbers_.data() + weight.offset, weight.rows, weight.columns, piece.first, piece.count},
      scratch);
}

double WeightGradients::sum_of_squares(Workers& workers) {
  workers.run(std::ssize(squares_), [&](Index chunk) {
    const Index begin = chunk * kClearedChunk,
                end = std::min(begin + kClearedChunk, std::ssize(numbers_));
    squares_[usize(chunk)] = kernels::sum_of_squares(end - begin, numbers_.data() + begin);
  });
  double sum = 0;
  for (double square : squares_) sum += square;
  return sum;
}

}  // namespace softalign
