#include "framework/train/group_sum.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "framework/base/arena.hpp"
#include "framework/base/bytes.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {
namespace {

void add_to(std::vector<real>& sum, const std::vector<real>& other, Workers& workers) {
  constexpr Index kPiece = 1 << 14;
  const Index size = std::ssize(sum);
  workers.run((size + kPiece - 1) / kPiece, [&](Index i) {
    const Index begin = i * kPiece;
    kernels::add(std::min(kPiece, size - begin), other.data() + begin, sum.data() + begin);
  });
}

}  // namespace

OwnedParameters::OwnedParameters(const ParameterStore& store, const Ranks& ranks)
    : dense_(usize(ranks.count()) + 1), tables_(dense_) {
  const Index dense = store.dense_size(), size = store.trained_size(), count = ranks.count();
  for (Index i = 0; i <= count; ++i) {
    dense_[usize(i)] =
        i == count ? dense
                   : dense * i / count / WeightGradients::kSquared * WeightGradients::kSquared;
    Index& bound = tables_[usize(i)] = i == count ? size : dense + (size - dense) * i / count;
    for (const Parameter& parameter : store.all())
      if (parameter.table && parameter.trained && bound > parameter.offset &&
          bound < parameter.offset + parameter.shape.size())
        bound -= (bound - parameter.offset) % parameter.shape.last();
  }
}

OwnedParameters::Ranges OwnedParameters::by(int slice) const {
  const auto i = usize(slice);
  return {{dense_[i], dense_[i + 1]}, {tables_[i], tables_[i + 1]}};
}

GroupSum::GroupSum(const ParameterStore& store, const OwnedParameters& owned, Ranks& ranks)
    : owned_(owned), ranks_(ranks) {
  for (const Parameter& parameter : store.all())
    if (parameter.table && parameter.trained)
      tables_.push_back({parameter.offset, parameter.shape[1]});
}

void GroupSum::prepare(WeightGradients& weights) {
  if (!weights.numbers().empty()) return;
  if (free_.empty()) free_.push_back(zeros_in_large_pages(std::ssize(partial_.back().numbers)));
  weights.numbers() = std::move(free_.back());
  free_.pop_back();
}

void GroupSum::add(WeightGradients& weights, const TableGradients& tables, Workers& workers) {
  rows_.push_back(tables.rows());
  Partial sum{0, std::exchange(weights.numbers(), {})};
  while (!partial_.empty() && partial_.back().level == sum.level) {
    Partial& left = partial_.back();
    add_to(left.numbers, sum.numbers, workers);
    free_.push_back(std::move(sum.numbers));
    sum = std::move(left);
    partial_.pop_back();
    ++sum.level;
  }
  partial_.push_back(std::move(sum));
}

void GroupSum::finish(WeightGradients& weights, TableGradients& tables) {
  weights.numbers() = std::move(partial_.back().numbers);
  partial_.clear();
  sum_slices(ranks_, weights.numbers(), owned_.dense_bounds(), scratch_);
  sum_tables(tables);
  rows_.clear();
}

// Sums the rows that any group touched, side by side, as if they were a dense buffer.
void GroupSum::sum_tables(TableGradients& tables) {
  if (tables_.empty()) return;
  ByteWriter touched;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    std::vector<Token> ids;
    for (const std::vector<Rows>& group : rows_) {
      std::vector<Token> both;
      std::ranges::set_union(ids, group[i].ids, std::back_inserter(both));
      ids = std::move(both);
    }
    touched.list(ids);
  }
  union_.assign(tables_.size(), {});
  for (const std::string& of_rank : gather_to_all(ranks_, touched.bytes())) {
    ByteReader reader(of_rank);
    for (std::vector<Token>& ids : union_) {
      std::vector<Token> both;
      std::ranges::set_union(ids, reader.list<Token>(), std::back_inserter(both));
      ids = std::move(both);
    }
  }
  std::vector<real> sums = sum_rows(0, rows_.size());

  Bounds bounds;
  for (const Index bound : owned_.table_bounds()) {
    Index before = 0;
    for (std::size_t i = 0; i < tables_.size(); ++i)
      before += tables_[i].size * std::ranges::count_if(union_[i], [&](Token id) {
                  return tables_[i].offset + id * tables_[i].size < bound;
                });
    bounds.push_back(before);
  }
  sum_slices(ranks_, sums, bounds, scratch_);
  std::vector<Rows> all;
  auto from = sums.begin();
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const auto end = from + std::ssize(union_[i]) * tables_[i].size;
    all.push_back({union_[i], {from, end}});
    from = end;
  }
  tables.set_rows(all);
}

// Returns the sum of groups [first, first + count) of this rank.
std::vector<real> GroupSum::sum_rows(std::size_t first, std::size_t count) const {
  if (count > 1) {
    std::vector<real> sum = sum_rows(first, count / 2);
    const std::vector<real> other = sum_rows(first + count / 2, count / 2);
    kernels::add(std::ssize(sum), other.data(), sum.data());
    return sum;
  }
  std::vector<real> all;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const Rows& rows = rows_[first][i];
    const real* from = rows.numbers.data();
    auto id = rows.ids.begin();
    for (const Token row : union_[i]) {
      if (id != rows.ids.end() && *id == row) {
        all.insert(all.end(), from, from + tables_[i].size);
        from += tables_[i].size;
        ++id;
      } else {
        all.insert(all.end(), usize(tables_[i].size), real{0});
      }
    }
  }
  return all;
}

}  // namespace softalign
