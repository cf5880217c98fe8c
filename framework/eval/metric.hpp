// The contract of a metric: which columns it counts of single sentences, and one number from the
// counts over a set of them. Which sentences (all of them, a length bucket, a bootstrap sample) is the
// caller's business. And tables of metrics.
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
  std::string title;              // "BLEU", as tables, report and figures call it
  std::string units = "percent";  // "percent", "nats", or "1" for a pure number
  // Direction, for early stopping and "best" marks. Empty: neither end is better, or unknown, for a
  // metric that an older record has and this program does not.
  std::optional<bool> higher_is_better = true;
  double least = 0;  // range of values
  double most = 100;
  // Order in tables, ascending; metrics of a search come after all others.
  int order = 100;
  // Shown where there is room for a few metrics: the last lines of a run, `ls`, `compare` without
  // --metric, the head of a report. All metrics are in the record, in `show` and in the report's
  // details.
  bool main = false;
  bool main_of_numbers =
      false;  // `main` where numbers are measured (CountSource::numbers); not in records
  bool searched = false;  // it measures the output of a search; follows from the columns
  // Tokenisation, case and smoothing of a standard score, in sacreBLEU's form. Values with
  // different signatures must not be compared. Empty: the metric has no settings.
  std::string signature = {};
  // The metric for which this one is a baseline, shown next to it. Empty: none.
  std::string baseline_of = {};
  // It reads rows of attention as belonging to a symbol; the signature says to which.
  bool of_rows = false;

  // As attributes of the metric's values in a record, with the names of the CF conventions where they have one.
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

// In the signature of such a metric: rows belong to the symbol that was read; without it, to the predicted
// symbol.
inline constexpr const char* kReadRows = "row:read";

class Metric {
 public:
  virtual ~Metric() = default;
  virtual MetricFacts about() const = 0;
  virtual std::vector<CountColumn> columns() const = 0;
  // NaN when the sentences do not define it: none at all, no links, no attention.
  virtual double value(const Counts& counts) const = 0;

  MetricFacts facts() const;  // about(), completed from the columns

 protected:
  // The options of a metric that has none.
  struct NoOptions {
    template <class V>
    void describe(V&) {}
  };
};

struct MetricKind {
  static constexpr const char* name = "metric";
  using Make = std::unique_ptr<Metric>();
};

// numerator / denominator; NaN when the denominator is 0.
double ratio(double numerator, double denominator);

struct NamedMetric {
  std::string name;
  std::shared_ptr<const Metric> metric;
};

// The metrics that are measured unless a spec lists its own: every registered one with its default options, by
// name.
std::vector<NamedMetric> default_metrics();

// Returns the metrics with these names, such as "bleu" and "bleu_13a" (plugin_word). Throws
// SpecError for unknown ones.
std::vector<NamedMetric> metrics_named(const std::vector<std::string>& names);

// Returns the metric with this name, or nullptr.
std::unique_ptr<Metric> metric_named(const std::string& name);

// Returns whether values with that signature come from the counts of a metric with this
// description, of any number of references.
bool counts_alike(const MetricFacts& facts, const std::string& signature);

// Returns whether the highest value of a metric is the best. Throws SpecError if it has no direction, or
// is unknown.
bool highest_is_best(const std::string& name);

// The columns of the metrics.
std::shared_ptr<const CountLayout> count_layout(const std::vector<NamedMetric>& metrics);

// The assignment of sentences to buckets, for example of source length.
struct Buckets {
  std::vector<std::string> labels;  // "1-10", "11-20", ...
  std::vector<Index> of_sentence;   // [sentences], an index into labels each
  // The unit of lengths if it is not symbols: "words", "pieces", "characters".
  std::string unit = {};
};

// A table of metrics, over all sentences and over each bucket, as plain numbers for the record and the
// terminal.
struct MetricTable {
  std::vector<std::string> rows;     // "all", then the buckets, empty ones too
  std::vector<Index> sentences;      // [rows], the n of each
  std::vector<std::string> metrics;  // the columns, as they were given
  std::vector<MetricFacts> facts;    // [metrics]
  Array2d values;                    // [rows, metrics]; NaN: undefined
  std::string length_unit = {};      // as Buckets::unit

  double at(std::size_t row, std::size_t metric) const { return values.at(row, metric); }
  // By name; NaN if missing.
  double find(const std::string& row, const std::string& metric) const;
  // By name, too. Throws SpecError naming the nearest metric, BugError for an unknown row.
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

// Throws BugError when the buckets are not the sentences'.
MetricTable summarize(const CountTable& counts,
                      const std::vector<NamedMetric>& metrics,
                      const Buckets& buckets = {});

// {"all": {"n": .., "bleu": ..}, "1-10": ..}, as a record keeps it: without the metrics that are
// not defined over all sentences.
JsonObject metrics_json(const MetricTable& table);

}  // namespace softalign

#define SOFTALIGN_METRIC(name, Class, summary) SOFTALIGN_PLUGIN(MetricKind, name, Class, summary)
