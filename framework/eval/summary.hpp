// A table of metrics: over all sentences and over each bucket of them. Plain numbers, so that the
// record and the terminal each write it their way.
#pragma once

#include <string>
#include <vector>

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"
#include "framework/base/json.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

// How sentences fall into buckets (of source length, say).
struct Buckets {
  std::vector<std::string> labels;  // "1-10", "11-20", ...
  std::vector<Index> of_sentence;   // [sentences], an index into labels each
  // What they count where it is not symbols: "words", "pieces", "characters".
  std::string unit = {};
};

struct MetricTable {
  std::vector<std::string> rows;     // "all", then the buckets, empty ones too
  std::vector<Index> sentences;      // [rows], the n of each
  std::vector<std::string> metrics;  // the columns, as they were given
  std::vector<MetricFacts> facts;    // [metrics]
  Array2d values;                    // [rows, metrics]; NaN: undefined
  std::string length_unit = {};      // as Buckets::unit

  double at(std::size_t row, std::size_t metric) const { return values.at(row, metric); }
  // By name; NaN for what is not there.
  double find(const std::string& row, const std::string& metric) const;
  // The same. Throws SpecError naming the nearest metric, BugError for an unknown row.
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
