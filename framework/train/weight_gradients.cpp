#include "framework/train/weight_gradients.hpp"

#include <algorithm>

#include "framework/kernels/elementwise.hpp"

namespace softalign {
namespace {

constexpr Index kChunk = 1 << 14;  // numbers that are added up in one piece
constexpr Index kColumns = 256;    // that are computed in one piece

Index chunks(std::size_t numbers) { return (static_cast<Index>(numbers) + kChunk - 1) / kChunk; }

}  // namespace

WeightGradients::WeightGradients(const ParameterStore& store)
    : numbers_(static_cast<std::size_t>(store.dense_size())),
      squares_(static_cast<std::size_t>(chunks(numbers_.size()))) {
  for (const Parameter& parameter : store.all()) {
    if (parameter.table || parameter.shape.rank() != 2) continue;
    weights_.push_back({parameter.offset, parameter.shape[0], parameter.shape[1], {}});
    for (Index first = 0; first < parameter.shape[1]; first += kColumns)
      pieces_.push_back(
          {weights_.size() - 1, first, std::min(kColumns, parameter.shape[1] - first)});
  }
}

void WeightGradients::clear(Workers& workers) {
  workers.run(chunks(numbers_.size()), [&](Index chunk) {
    const Index begin = chunk * kChunk;
    std::fill_n(data() + begin, std::min(kChunk, std::ssize(numbers_) - begin), real{0});
  });
}

double WeightGradients::gather(const std::vector<std::unique_ptr<Tape>>& tapes, Workers& workers) {
  for (Weight& weight : weights_) weight.products.clear();
  for (const auto& tape : tapes)
    for (const WeightProduct& product : tape->weight_products())
      std::lower_bound(weights_.begin(),
                       weights_.end(),
                       product.weight,
                       [](const Weight& weight, Index offset) { return weight.offset < offset; })
          ->products.push_back(product);
  workers.run(std::ssize(pieces_), [&](Index i) {
    const Piece& piece = pieces_[static_cast<std::size_t>(i)];
    const Weight& weight = weights_[piece.weight];
    thread_local Arena scratch;
    add_weight_products(
        weight.products, piece.first, piece.count, data() + weight.offset, weight.columns, scratch);
  });
  workers.run(chunks(numbers_.size()), [&](Index chunk) {
    const Index begin = chunk * kChunk, end = std::min(begin + kChunk, std::ssize(numbers_));
    for (const auto& tape : tapes)
      for (const Tape::ParameterGradient& one : tape->parameter_gradients()) {
        const Index first = std::max(begin, one.offset),
                    last = std::min(end, one.offset + one.size);
        if (first < last)
          kernels::add(last - first, one.numbers + (first - one.offset), data() + first);
      }
    squares_[static_cast<std::size_t>(chunk)] =
        kernels::sum_of_squares(end - begin, data() + begin);
  });
  double sum = 0;
  for (double square : squares_) sum += square;
  return sum;
}

}  // namespace softalign
