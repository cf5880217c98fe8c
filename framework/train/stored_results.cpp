#include "framework/train/stored_results.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/text_metrics.hpp"

namespace softalign {
namespace {

const std::string kByLength = "test/by_length";

// Returns the default metrics, and those of the record that this program knows.
std::vector<NamedMetric> metrics_of(const Record& record) {
  std::vector<NamedMetric> metrics = default_metrics();
  if (!record.has(kByLength)) return metrics;
  for (const std::string& name : record.children(kByLength))
    if (std::shared_ptr<const Metric> metric = metric_named(name))
      if (std::ranges::count(metrics, name, &NamedMetric::name) == 0)
        metrics.push_back({name, std::move(metric)});
  return metrics;
}

xt::xtensor<Index, 1> source_lengths(const Record& record) {
  const Array array = record.array("test", "source_length");
  if (array.dims.size() != 1 || !std::holds_alternative<std::vector<std::int32_t>>(array.values))
    throw damaged_value(record.file(), "test/source_length");
  return xt::cast<Index>(as_array<std::int32_t>(array));
}

}  // namespace

Array1d numbers_in(const Record& record,
                   const std::string& group,
                   const std::string& name,
                   std::optional<std::size_t> size) {
  Array1d numbers = xt::zeros<double>({0});
  std::visit(
      [&](const auto& values) {
        using T = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<T>) numbers = xt::cast<double>(xt::adapt(values));
      },
      record.array(group, name).values);
  if (size && numbers.size() != *size) throw damaged_value(record.file(), group + "/" + name);
  return numbers;
}

std::vector<Index> StoredResults::of_length(Index shortest, Index longest) const {
  const auto chosen = xt::flatnonzero<xt::layout_type::row_major>(source_lengths >= shortest &&
                                                                  source_lengths <= longest);
  return {chosen.begin(), chosen.end()};
}

std::vector<bool> StoredResults::outside(Index shortest, Index longest) const {
  std::vector<bool> is_outside(source_lengths.size(), true);
  for (const Index at : of_length(shortest, longest)) is_outside[usize(at)] = false;
  return is_outside;
}

double StoredResults::value(const std::string& metric, const std::vector<Index>& chosen) const {
  const CountRows rows = rows_of(counts, chosen);
  const auto known = metrics_named({metric})[0].metric;
  try {
    return known->value({counts.layout(), rows});
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {  // thrown by a plugin
    throw DataError("metric {}: {}", metric, message_of(error));
  }
}

MetricFacts facts_in(const Record& record, const std::string& metric) {
  const std::string path = kByLength + "/" + metric;
  if (const auto known = metric_named(metric)) {
    MetricFacts facts = known->facts();
    facts.main = record.attribute<Index>(path, "main").value_or(facts.main ? 1 : 0) != 0;
    facts.signature = record.attribute<std::string>(path, "signature").value_or("");
    return facts;
  }
  try {  // the metric of a plugin that is not loaded
    return from_stored<MetricFacts>(record.attributes(path));
  } catch (const DataError&) {
    throw damaged_value(record.file(), path);
  }
}

namespace {

// Returns the number of references of a test sentence, as in signatures.
std::string references_in(const Record& record) {
  const std::vector<std::string> further = test_texts(record, "references");
  const Index sentences = record.attribute<Index>("test", "sentences").value_or(0);
  if (sentences <= 0 || std::ssize(further) < sentences) return "1";
  const auto width = std::ssize(further) / sentences;
  std::vector<std::vector<std::string>> all;
  for (auto next = further.begin(); further.end() - next >= width; next += width)
    all.emplace_back(next, next + width);
  return count_references(all);
}

MetricTable written_totals(const Record& record) {
  MetricTable table;
  if (!record.has(kByLength)) return table;
  std::vector<double> totals;
  table.rows = {"all"};
  table.sentences = {record.attribute<Index>("test", "sentences").value_or(0)};
  for (const std::string& name : record.children(kByLength)) {
    const auto total = record.attribute<double>("test", name);
    if (!total) continue;
    if (!std::holds_alternative<std::vector<double>>(record.array(kByLength, name).values))
      throw damaged_value(record.file(), kByLength + "/" + name);
    table.metrics.push_back(name);
    table.facts.push_back(facts_in(record, name));
    totals.push_back(*total);
  }
  table.values = xt::adapt(totals, std::array{std::size_t{1}, totals.size()});
  return table;
}

}  // namespace

MetricTable read_totals(const Record& record) {
  MetricTable table = written_totals(record);
  std::vector<double> totals(table.values.begin(), table.values.end());
  std::set<std::string> counted;  // columns of metrics that the record has
  for (const std::string& name : table.metrics)
    if (const auto known = metric_named(name))
      for (const CountColumn& column : known->columns()) counted.insert(column.name);
  for (const auto& [name, metric] : default_metrics()) {
    const auto is_counted = [&](const CountColumn& column) {
      return counted.contains(column.name) && record.has("test/" + column.name);
    };
    if (std::ranges::count(table.metrics, name) > 0 ||
        !std::ranges::all_of(metric->columns(), is_counted))
      continue;
    const StoredResults results = read_results(record);
    const double value = metric->value({results.counts.layout(), rows_of(results.counts)});
    if (!std::isfinite(value)) continue;
    table.metrics.push_back(name);
    table.facts.push_back(metric->facts());
    MetricFacts& facts = table.facts.back();
    facts.signature = with_references(facts.signature, references_in(record));
    totals.push_back(value);
  }
  table.values = xt::adapt(totals, std::array{table.rows.size(), totals.size()});
  return table;
}

MetricTable read_by_length(const Record& record) {
  MetricTable table = written_totals(record);
  if (table.rows.empty()) return table;
  const Values labels = record.array(kByLength, "label").values;
  const auto* names = std::get_if<std::vector<std::string>>(&labels);
  if (!names) throw damaged_value(record.file(), kByLength + "/label");
  table.length_unit = record.attribute<std::string>("test", "length_unit").value_or("");
  table.rows.insert(table.rows.end(), names->begin(), names->end());
  for (const double n : numbers_in(record, kByLength, "n", names->size()))
    table.sentences.push_back(static_cast<Index>(n));
  const Array2d totals = table.values;
  table.values.resize({table.rows.size(), table.metrics.size()});
  xt::view(table.values, xt::range(0, 1)) = totals;
  for (std::size_t m = 0; m < table.metrics.size(); ++m)
    xt::view(table.values, xt::range(1, table.rows.size()), m) =
        numbers_in(record, kByLength, table.metrics[m], names->size());
  return table;
}

std::vector<RecordedDiagnostic> recorded_diagnostics(const Record& record,
                                                     const std::string& wanted) {
  std::vector<RecordedDiagnostic> all;
  const std::string root(kDiagnosticsGroup);
  for (const std::string& name : record.children(root)) {
    if (!wanted.empty() && name != wanted) continue;
    std::vector<std::string> splits = record.children(root + "/" + name);
    std::ranges::sort(splits);
    for (const std::string& split : splits) {
      RecordedDiagnostic& one = all.emplace_back(
          RecordedDiagnostic{name, split, root + "/" + name + "/" + split, {}, {}});
      for (const std::string& child : record.children(one.group)) {
        Array array = record.array(one.group, child);
        const auto* numbers = std::get_if<std::vector<double>>(&array.values);
        if (array.dims.size() == 1 && array.dims[0].name == child)
          one.axes.push_back(std::move(array));
        else if (numbers && !numbers->empty() && !array.dims.empty() &&
                 array.dims[0].name == "update")
          one.arrays.push_back(std::move(array));
      }
    }
  }
  return all;
}

Array2d by_update(const Array& array) {
  const auto& numbers = std::get<std::vector<double>>(array.values);
  const std::size_t updates = usize(array.dims[0].size);
  return xt::adapt(numbers, std::array{updates, numbers.size() / updates});
}

std::map<std::string, StoredFinding> read_findings(const Record& record) {
  std::map<std::string, StoredFinding> all;
  for (const RecordedDiagnostic& one : recorded_diagnostics(record)) {  // test replaces dev
    if (one.split == "train") continue;
    const Array1d updates = numbers_in(record, one.group, "update");
    for (const Array& array : one.arrays) {
      if (array.dims.size() > 2) continue;
      const Array2d numbers = by_update(array);
      StoredFinding found{{}, xt::row(numbers, -1)};
      if (array.dims.size() == 2)
        found.places = numbers_in(record, one.group, array.dims[1].name, numbers.shape(1));
      all[one.name + "." + array.name] = found;
      if (updates.size() == 0 || updates(0) != 0) continue;
      found.values = xt::row(numbers, 0);
      all[one.name + ".start." + array.name] = std::move(found);
    }
  }
  return all;
}

double StoredFinding::mean(double first, double last) const {
  xt::xtensor<bool, 1> chosen = !xt::isnan(values);
  if (places.size() > 0) chosen = chosen && places >= first && places <= last;
  const Array1d numbers = xt::filter(values, chosen);
  return sum_of(numbers) / static_cast<double>(numbers.size());
}

std::vector<std::string> test_texts(const Record& record, const char* name) {
  if (!record.has(std::string("test/") + name)) return {};
  const Values values = record.array("test", name).values;
  const auto* texts = std::get_if<std::vector<std::string>>(&values);
  return texts ? *texts : std::vector<std::string>{};
}

StoredResults read_results(const Record& record) {
  if (!record.has("test/source_length"))
    throw DataError("{}: has no test results (the run is {}); resume it first",
                    record.file().string(),
                    record.state());
  StoredResults results;
  results.source_lengths = source_lengths(record);
  results.found = read_findings(record);
  const std::size_t sentences = results.source_lengths.size();
  if (record.has("test/cluster"))
    for (const double number : numbers_in(record, "test", "cluster", sentences))
      results.clusters.push_back(static_cast<Index>(number));
  results.counts = CountTable(count_layout(metrics_of(record)), std::ssize(results.source_lengths));
  for (const CountColumn& column : results.counts.layout().columns()) {
    if (!record.has("test/" + column.name)) continue;  // the run did not measure it
    const auto width = usize(column.width);
    const auto place = usize(results.counts.layout().place(column.name, column.width));
    const Array1d numbers = numbers_in(record, "test", column.name);
    if (sentences > 0 && numbers.size() != sentences * width && numbers.size() % sentences == 0)
      throw DataError(
          "{}: test/{} has {} per sentence, but this program's column of that name has {}; "
          "--plugin may name another plugin than the one that measured it",
          record.file().string(),
          column.name,
          counted(std::ssize(numbers) / std::ssize(results.source_lengths), "number"),
          width);
    if (numbers.size() != sentences * width)
      throw damaged_value(record.file(), "test/" + column.name);
    for (std::size_t i = 0; i < sentences; ++i)
      std::copy_n(
          numbers.begin() + static_cast<std::ptrdiff_t>(i * width),
          width,
          results.counts.row(static_cast<Index>(i)).begin() + static_cast<std::ptrdiff_t>(place));
  }
  return results;
}

}  // namespace softalign
