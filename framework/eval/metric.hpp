// The interface of metrics, and tables of metrics. A metric has columns of counts for single sentences, and
// computes one number from the counts of a set of sentences. The caller chooses the set: all sentences, a length
// bucket, or a bootstrap sample.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/config/registry.hpp"
#include "framework/eval/counts.hpp"

namespace softalign {

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// Description of a metric's values, stored in records.
struct MetricFacts {
  std::string title;              // "BLEU", the name in tables, reports and figures
  std::string units = "percent";  // "percent", "nats", or "1" for a pure number
  // Direction, for early stopping and "best" marks. Empty: neither end is better, or the direction is unknown,
  // because this program lacks a metric of an older record.
  std::optional<bool> higher_is_better = true;
  double least = 0;  // `least` to `most`: range of values
  double most = 100;
  // Order in tables, ascending; metrics of search outputs follow all others.
  int order = 100;
  // Shown where there is room for only a few metrics: the last lines of a run, `ls`, `compare` without
  // --metric, the head of a report. All metrics are in the record, in `show` and in the report's
  // details.
  bool main = false;
  bool main_of_numbers =
      false;  // replaces `main` if numbers are measured (CountSource::numbers); not in records
  bool searched = false;  // measures the output of a search; derived from the columns
  // Tokenisation, case and smoothing of a standard score, in sacreBLEU's form. Values with
  // different signatures must not be compared. Empty: the metric has no settings.
  std::string signature = {};
  // The metric for which this one is a baseline, shown next to it. Empty: not a baseline.
  std::string baseline_of = {};
  // The metric depends on the symbol that attention rows belong to (RowAligns), which the signature names.
  bool of_rows = false;

  // The attributes of the metric's values in a record, with names of the CF conventions if they define one.
  template <class V>
  void describe(V& v) {
    const auto finite = [](double x) { return std::isfinite(x) ? std::optional(x) : std::nullopt; };
    std::optional<double> valid_min = finite(least), valid_max = finite(most);
    v("long_name", title);
    v("units", units);
    v("higher_is_better", higher_is_better);
    v("valid_min", valid_min);
    v("valid_max", valid_max);
    v("order", order);
    v("main", main);
    v("searched", searched);
    v("of_rows", of_rows);
    v("signature", signature);
    v("baseline_of", baseline_of);
    least = valid_min.value_or(-kNoLimit);
    most = valid_max.value_or(kNoLimit);
  }
};

// The signature of a metric with `of_rows` if rows belong to the symbol that was read; without it, they belong to the
// predicted symbol.
inline constexpr const char* kReadRows = "row:read";

class Metric {
 public:
  virtual ~Metric() = default;
  virtual MetricFacts about() const = 0;
  virtual std::vector<CountColumn> columns() const = 0;
  // Returns NaN if the sentences do not define the metric: without sentences, links or attention.
  virtual double value(const Counts& counts) const = 0;

  MetricFacts facts() const;  // about(), completed from the columns

 protected:
  // The options of a metric without options.
  struct NoOptions {
    template <class V>
    void describe(V&) {}
  };
};

struct MetricKind {
  static constexpr const char* name = "metric";
  using Make = std::unique_ptr<Metric>();
};

// Returns numerator / denominator; NaN if the denominator is 0.
double ratio(double numerator, double denominator);

struct NamedMetric {
  std::string name;
  std::shared_ptr<const Metric> metric;
};

// Returns the metrics that are measured unless a spec lists its own: all registered ones with default options, by
// name.
std::vector<NamedMetric> default_metrics();

// Returns the metrics with these names, such as "bleu" and "bleu_13a" (plugin_word). Throws
// SpecError for unknown ones.
std::vector<NamedMetric> metrics_named(const std::vector<std::string>& names);

// Returns the metric with this name, or nullptr.
std::unique_ptr<Metric> metric_named(const std::string& name);

// Returns whether values with this signature are computed from the counts of a metric with this
// description; the number of references may differ.
bool counts_alike(const MetricFacts& facts, const std::string& signature);

// Returns whether the highest value of a metric is the best. Throws SpecError if the metric is unknown or has no
// direction.
bool highest_is_best(const std::string& name);

// Returns the layout of the columns of all metrics.
std::shared_ptr<const CountLayout> count_layout(const std::vector<NamedMetric>& metrics);

// The assignment of sentences to buckets, for example of source length.
struct Buckets {
  std::vector<std::string> labels;  // "1-10", "11-20", ...
  std::vector<Index> of_sentence;   // [sentences], indices into `labels`
  // The unit of lengths if it is not symbols: "words", "pieces", "characters".
  std::string unit = {};
};

// A table of metrics over all sentences and over each bucket, as plain numbers for the record and the
// terminal.
struct MetricTable {
  std::vector<std::string> rows;     // "all", then the buckets, including empty ones
  std::vector<Index> sentences;      // [rows], the number of sentences of each
  std::vector<std::string> metrics;  // the columns, in the given order
  std::vector<MetricFacts> facts;    // [metrics]
  Array2d values;                    // [rows, metrics]; NaN: undefined
  std::string length_unit = {};      // as Buckets::unit

  double at(std::size_t row, std::size_t metric) const { return values.at(row, metric); }
  // Returns a value by name; NaN if it is missing.
  double find(const std::string& row, const std::string& metric) const;
  // Returns a value by name. Throws SpecError with the nearest name for an unknown metric, BugError for a missing row.
  double at(const std::string& row, const std::string& metric) const;

  template <class V>
  void describe(V& v) {
    v("rows", rows);
    v("sentences", sentences);
    v("metrics", metrics);
    v("facts", facts);
    v("length_unit", length_unit);
    std::vector<double> numbers(values.begin(), values.end());
    v("values", numbers);
    if (numbers.size() != rows.size() * metrics.size())
      throw DataError("a table of {} rows and {} metrics holds {} values",
                      rows.size(),
                      metrics.size(),
                      numbers.size());
    values = xt::adapt(numbers, std::array{rows.size(), metrics.size()});
  }
};

// Computes the metrics over all sentences and each bucket. Throws BugError if the buckets do not fit the sentences.
MetricTable summarize(const CountTable& counts,
                      const std::vector<NamedMetric>& metrics,
                      const Buckets& buckets = {});

// Returns {"all": {"n": .., "bleu": ..}, "1-10": ..}, as stored in a record: without the metrics that are
// undefined over all sentences.
JsonObject metrics_json(const MetricTable& table);

}  // namespace softalign

#define SOFTALIGN_METRIC(name, Class, summary) SOFTALIGN_PLUGIN(MetricKind, name, Class, summary)
