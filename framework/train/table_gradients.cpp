#include "framework/train/table_gradients.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/elementwise.hpp"

namespace softalign {

TableGradients::TableGradients(const ParameterStore& store) {
  for (const Parameter& parameter : store.all())
    if (parameter.table)
      tables_.push_back({parameter.value().data,
                         parameter.offset,
                         parameter.shape[0],
                         parameter.shape[1],
                         std::vector<std::int32_t>(usize(parameter.shape[0]), -1),
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

void TableGradients::add(std::span<const std::unique_ptr<Tape>> tapes, Workers& workers) {
  workers.run(std::ssize(tables_), [&](Index i) { add(tapes, tables_[usize(i)]); });
}

void TableGradients::add(std::span<const std::unique_ptr<Tape>> tapes, Table& table) {
  for (const auto& tape : tapes)
    for (const Tape::TableGradient& gradient : tape->table_gradients()) {
      if (gradient.table != table.values) continue;
      for (Index i = 0; i < gradient.count; ++i) {
        const real* row = gradient.rows + i * table.size;
        std::int32_t& slot = table.slot[usize(gradient.ids[i])];
        if (slot < 0) {
          slot = static_cast<std::int32_t>(table.touched.size());
          table.touched.push_back(gradient.ids[i]);
          table.sums.insert(table.sums.end(), row, row + table.size);
        } else {
          kernels::add(table.size, row, table.sums.data() + slot * table.size);
        }
      }
    }
}

double TableGradients::sum_of_squares(Workers& workers) {
  workers.run(std::ssize(tables_), [&](Index i) {
    Table& table = tables_[usize(i)];
    table.squares = kernels::sum_of_squares(std::ssize(table.sums), table.sums.data());
  });
  double sum = 0;
  for (const Table& table : tables_) sum += table.squares;
  return sum;
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
