#include "framework/analysis/sweep_curves.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "framework/base/types.hpp"
#include "framework/record/journal/history.hpp"

namespace softalign {
namespace {

// The updates at which a run has any value, ascending.
std::vector<Index> steps_of(const SweepTable::Row& row) {
  if (!row.run) return {};
  const auto &dev = row.run->dev.updates, &train = row.run->train.updates;
  std::vector<Index> steps;
  std::set_union(dev.begin(), dev.end(), train.begin(), train.end(), std::back_inserter(steps));
  return steps;
}

// A run's values of a column, at its steps; fills the beginning of `to`.
void spread(const std::vector<Index>& steps,
            const SeriesColumns& series,
            const std::string& column,
            double* to) {
  const auto values = series.columns.find(column);
  if (values == series.columns.end()) return;
  std::size_t i = 0;
  for (const Index step : steps) {
    if (i < series.updates.size() && series.updates[i] == step) *to = values->second[i++];
    ++to;
  }
}

}  // namespace

std::set<std::string> dev_columns(const SweepTable& table) {
  std::set<std::string> columns;
  for (const SweepTable::Row& row : table.rows)
    if (row.run)
      for (const auto& [name, values] : row.run->dev.columns)
        if (!is_volatile("dev/" + name)) columns.insert(name);
  return columns;
}

void write_curves(Hdf5Writer& file, const SweepTable& table) {
  std::vector<std::vector<Index>> steps;
  std::size_t longest = 0;
  for (const SweepTable::Row& row : table.rows) {
    steps.push_back(steps_of(row));
    longest = std::max(longest, steps.back().size());
  }
  if (longest == 0) return;

  const std::vector<Dimension> dims = {{"run", std::ssize(table.rows)},
                                       {"step", static_cast<Index>(longest)}};
  std::vector<Index> rows, updates(steps.size() * longest, -1);
  for (std::size_t r = 0; r < steps.size(); ++r) {
    rows.push_back(table.rows[r].k);
    std::copy(steps[r].begin(),
              steps[r].end(),
              updates.begin() + static_cast<std::ptrdiff_t>(r * longest));
  }
  file.dataset("curves/run", {dims[0]}, rows);
  file.dataset("curves/update", dims, updates);
  const auto curve = [&](const std::string& name, const auto& series, const std::string& column) {
    std::vector<double> values(updates.size(), kUndefined);
    for (std::size_t r = 0; r < steps.size(); ++r)
      if (const auto& run = table.rows[r].run)
        spread(steps[r], (*run).*series, column, values.data() + r * longest);
    file.dataset("curves/" + name, dims, values);
  };
  for (const std::string& column : dev_columns(table)) curve("dev_" + column, &Run::dev, column);
  std::set<std::string> train;
  for (const SweepTable::Row& row : table.rows)
    if (row.run)
      for (const auto& [name, values] : row.run->train.columns) train.insert(name);
  for (const std::string& column : train) curve("train_" + column, &Run::train, column);
}

}  // namespace softalign
