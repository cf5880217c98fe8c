// The contract of a metric: one number over a set of evaluated sentences. Which sentences (all of
// them, a length bucket, a bootstrap sample) is the caller's business.
//
// Scores (accuracies, exact match, BLEU, chrF) are percentages, 0..100.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "framework/config/registry.hpp"
#include "framework/eval/sentence_result.hpp"

namespace softalign {

using Sentences = std::span<const SentenceResult* const>;

class Metric {
 public:
  virtual ~Metric() = default;
  // NaN when the sentences do not define it: none at all, no links, no attention.
  virtual double value(Sentences sentences) const = 0;
  // Which end is good: early stopping and "best" marks read it.
  virtual bool higher_is_better() const = 0;
  // Of the value: "percent", "nats", or "1" for a pure number.
  virtual std::string units() const { return "percent"; }
  // Tokenisation, case and smoothing of a score that others compute too, in sacreBLEU's form.
  // Values with different signatures must not be compared. Empty: there is nothing to vary.
  virtual std::string signature() const { return ""; }

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

// 100 hits / total over the counts that `part` picks from each sentence; NaN when total is 0.
double percent(Sentences sentences, const std::function<Count(const SentenceResult&)>& part);

// numerator / denominator; NaN when the denominator is 0.
double ratio(double numerator, Index denominator);

struct NamedMetric {
  std::string name;
  std::shared_ptr<const Metric> metric;
};

// Every registered metric with its default options, by name.
std::vector<NamedMetric> all_metrics();

}  // namespace softalign

#define SOFTALIGN_METRIC(name, Class, summary) SOFTALIGN_PLUGIN(MetricKind, name, Class, summary)
