#include "framework/runs/row_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/types.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/seq/cost.hpp"

namespace softalign {

void RowCosts::look(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (costs_.size() < list_.rows.size() && std::chrono::steady_clock::now() < end) {
    const ListedRun& row = list_.rows[costs_.size()];
    double found = kUndefined;
    try {
      found = cost(row);
    } catch (const std::exception&) {  // reported by the worker of the row
    }
    costs_.push_back(found);
  }
}

double RowCosts::of(const ListedRun& row) const {
  const auto at = usize(&row - list_.rows.data());
  return at < costs_.size() ? costs_[at] : kUndefined;
}

RowCosts::Pairs RowCosts::pairs(const Spec& spec) {
  const std::string key =
      spec.task.type +
      canonical_json(*spec.task.options, [](const InputFile& file) { return file.path; });
  if (const auto known = data_.find(key); known != data_.end()) return known->second;
  const auto task = make_plugin<TaskKind>(spec.task);
  const DataOutline outline = task->outline();
  Pairs found{.source_format = outline.source(), .target_symbols = outline.target_symbols};
  if (const DataOutline::SplitOutline& train = outline.train; train.examples > 0) {
    found.count = static_cast<double>(train.drawn > 0 ? train.drawn : train.examples);
    found.source = train.source.mean;
    found.target = train.target.mean;
  } else {
    if (task->has_to_train_subwords()) throw DataError("its sub-words are not trained yet");
    const Dataset data =
        task->load(static_cast<std::uint64_t>(spec.seed), [](std::string_view, Index, Index) {});
    found.source_format = data.source_format();
    found.target_symbols = data.target->size();
    const auto examples = static_cast<double>(data.train.examples.size());
    for (const ExampleRow& example : data.train.examples.rows()) {
      found.source += example.source / examples;
      found.target += example.target / examples;
    }
    found.count = data.train.portions.empty() ? examples : 0;
    for (const Portion& portion : data.train.portions)
      found.count += portion.weight * static_cast<double>(portion.examples);
  }
  found.source /= static_cast<double>(found.source_format.frames.height);
  return data_[key] = found;
}

double RowCosts::cost(const ListedRun& row) {
  const Spec spec = resolve_row(list_, row, load_).spec;
  const Pairs data = pairs(spec);
  const auto positions = [](double length) { return std::max<Index>(2, std::lround(length) + 1); };
  const Cost pair = cost_of(spec.model,
                            data.source_format,
                            data.target_symbols,
                            {positions(data.source), positions(data.target)});
  double drawn = static_cast<double>(spec.train.epochs) * data.count;
  if (spec.train.max_updates)
    drawn =
        std::min(drawn, static_cast<double>(*spec.train.max_updates * spec.train.batch.sentences));
  return drawn * static_cast<double>(pair.multiplications);
}

void RowPace::add(const std::string& part, double cost, double seconds) {
  for (Sum* sum : {&parts_[part], &all_}) {
    ++sum->rows;
    sum->cost += cost;  // one that is not known: they are taken for equal
    sum->seconds += seconds;
  }
}

double RowPace::seconds(const std::string& part, double cost) const {
  const auto own = parts_.find(part);
  const Sum& sum = own == parts_.end() ? all_ : own->second;
  const double by_cost = cost * sum.seconds / sum.cost;
  return std::isfinite(by_cost) ? by_cost : sum.seconds / sum.rows;
}

}  // namespace softalign
