#include "framework/train/weight_gradients.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "framework/base/arena.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {
namespace {

// The average number of pieces per thread, and the fewest columns of a piece, since each piece reads the whole
// matrix that its columns are multiplied with.
constexpr Index kPiecesOfThread = 4, kGradientColumns = 64;

}  // namespace

WeightGradients::WeightGradients(const ParameterStore& store, int threads)
    : numbers_(zeros_in_large_pages(store.dense_size())),
      squares_((numbers_.size() + kSquared - 1) / kSquared) {
  const Index size = store.dense_size() / (kPiecesOfThread * threads);  // numbers of a piece
  for (const Parameter& parameter : store.all()) {
    if (parameter.table || !parameter.trained) continue;
    const Shape& shape = parameter.shape;
    weights_.push_back({parameter.offset, shape.rows(), shape.last(), {}});
    const Index width = std::max(kGradientColumns, (size / shape.rows() + 31) / 32 * 32);
    for (Index first = 0; first < shape.last(); first += width)
      pieces_.push_back({weights_.size() - 1, first, std::min(width, shape.last() - first)});
  }
  if (threads == 1) return;
  std::ranges::stable_sort(pieces_, std::greater(), [this](const Piece& piece) {
    return weights_[piece.weight].rows * piece.count;  // so that no long piece comes last
  });
}

void WeightGradients::clear(Workers& workers) {
  workers.run(std::ssize(squares_), [&](Index chunk) {
    const Index begin = chunk * kSquared, end = std::min(begin + kSquared, std::ssize(numbers_));
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

std::span<const double> WeightGradients::squares(Index begin, Index end, Workers& workers) {
  const Index first = begin / kSquared, last = (end + kSquared - 1) / kSquared;
  workers.run(last - first, [&](Index i) {
    const Index from = begin + i * kSquared, count = std::min(kSquared, end - from);
    squares_[usize(first + i)] = kernels::sum_of_squares(count, numbers_.data() + from);
  });
  return std::span(squares_).subspan(usize(first), usize(last - first));
}

TableGradients::TableGradients(const ParameterStore& store) {
  for (const Parameter& parameter : store.all())
    if (parameter.table && parameter.trained)
      tables_.push_back({parameter.offset,
                         parameter.shape[0],
                         parameter.shape[1],
                         std::vector<std::int32_t>(usize(parameter.shape[0]), -1),
                         {},
                         {},
                         {}});
}

void TableGradients::clear() {
  for (Table& table : tables_) {
    for (Token id : table.touched) table.slot[usize(id)] = -1;
    table.touched.clear();
    table.sums.clear();
  }
}

void TableGradients::add(std::span<const Tape* const> tapes, Workers& workers) {
  workers.run(std::ssize(tables_), [&](Index i) { add(tapes, tables_[usize(i)]); });
}

void TableGradients::add(std::span<const Tape* const> tapes, Table& table) {
  table.parts.resize(std::max(table.parts.size(), tapes.size()));
  for (WeightProducts& part : table.parts) part.clear();
  for (std::size_t i = 0; i < tapes.size(); ++i)
    for (const WeightProduct& product : tapes[i]->weight_products())
      if (product.weight == table.offset) table.parts[i].push_back(product);
  for_each_row(std::span<const WeightProducts>(table.parts),
               [&](const WeightProduct& product, Index b, Index s) {
                 kernels::add(table.size, product.dy.row(b, s), table.row(product.id(b, s)));
               });
}

real* TableGradients::Table::row(Token id) {
  std::int32_t& at = slot[usize(id)];
  if (at < 0) {
    at = static_cast<std::int32_t>(touched.size());
    touched.push_back(id);
    sums.resize(sums.size() + usize(size));
  }
  return sums.data() + at * size;
}

// Sums by row, because the rows that padding touches, and their order, depend on how the batch was cut.
std::span<const std::vector<double>> TableGradients::squares(Index begin,
                                                             Index end,
                                                             Workers& workers) {
  squares_.resize(tables_.size());
  workers.run(std::ssize(tables_), [&](Index i) {
    const Table& table = tables_[usize(i)];
    squares_[usize(i)].clear();
    for (Index row = 0; row < table.rows; ++row) {
      const Index at = table.offset + row * table.size, slot = table.slot[usize(row)];
      if (slot >= 0 && at >= begin && at < end)
        squares_[usize(i)].push_back(
            kernels::sum_of_squares(table.size, table.sums.data() + slot * table.size));
    }
  });
  return squares_;
}

std::vector<TableGradients::Rows> TableGradients::rows() const {
  std::vector<Rows> all;
  for (const Table& table : tables_) {
    Rows& rows = all.emplace_back();
    rows.ids = table.touched;
    std::ranges::sort(rows.ids);
    for (const Token id : rows.ids) {
      const real* const row = table.sums.data() + table.slot[usize(id)] * table.size;
      rows.numbers.insert(rows.numbers.end(), row, row + table.size);
    }
  }
  return all;
}

void TableGradients::set_rows(const std::vector<Rows>& rows) {
  clear();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const real* from = rows[i].numbers.data();
    for (const Token id : rows[i].ids)
      std::copy_n(std::exchange(from, from + tables_[i].size), tables_[i].size, tables_[i].row(id));
  }
}

bool TableGradients::read(Index begin, Index count, real* to) const {
  bool any = false;
  for (const Table& table : tables_) {
    const Index first = std::max(begin, table.offset),
                last = std::min(begin + count, table.offset + table.rows * table.size);
    for (Index at = first; at < last;) {
      const Index row = (at - table.offset) / table.size, column = (at - table.offset) % table.size,
                  length = std::min(table.size - column, last - at);
      if (const std::int32_t slot = table.slot[usize(row)]; slot >= 0) {
        if (!any) std::fill_n(to, count, real{0});
        any = true;
        std::copy_n(table.sums.data() + slot * table.size + column, length, to + (at - begin));
      }
      at += length;
    }
  }
  return any;
}

}  // namespace softalign
