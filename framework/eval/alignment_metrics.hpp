// What the metrics of attention's alignments and of IBM Model 1's share: they differ in who points.
#pragma once

#include <algorithm>

#include "framework/eval/alignments.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

using WhoPoints = WordLinks(const EvaluatedSentence&);

// How often a target word points at a source word that it is surely linked to, of the target words that have a sure
// link. Where the largest weights tie, it is right when all of the tied words are linked; a row that is even over
// all positions points nowhere and is wrong, as is one of zeros.
class PointingMetric : public Metric {
 public:
  using Options = NoOptions;

  std::vector<CountColumn> columns() const override { return {hits_, tokens_}; }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum(hits_.name), counts.sum(tokens_.name));
  }

 protected:
  PointingMetric(CountColumn hits, CountColumn tokens)
      : hits_(std::move(hits)), tokens_(std::move(tokens)) {}

  template <WhoPoints* points, Index Count::*part>
  static CountColumn column(std::string name, std::string long_name, CountSource source) {
    return {.name = std::move(name),
            .long_name = std::move(long_name),
            .source = source,
            .count = [](const EvaluatedSentence& sentence, std::span<double> to) {
              WordLinks links = points(sentence);
              to[0] = static_cast<double>(point_count(std::move(links.pointed), links.known).*part);
            }};
  }

 private:
  CountColumn hits_, tokens_;
};

// Alignment error rate (Och and Ney 2003):   AER = 100 (1 - (|A and S| + |A and P|) / (|A| + |S|))
// A: the links of target words to the source words that they point at, as above; S: sure links; P: possible links, and
// the sure ones. Over all sentences that have a known link.
class ErrorRateMetric : public Metric {
 public:
  using Options = NoOptions;

  std::vector<CountColumn> columns() const override { return {column_}; }
  double value(const Counts& counts) const override {
    const auto [links, sure, possible, known] =
        counts.sums<std::tuple_size_v<LinkCounts>>(column_.name);
    return 100 * (1 - ratio(sure + possible, links + known));
  }

 protected:
  explicit ErrorRateMetric(CountColumn column) : column_(std::move(column)) {}

  template <WhoPoints* points>
  static CountColumn column(std::string name, CountSource source) {
    return {.name = std::move(name),
            .long_name = "links, of these sure ones, possible or sure ones; known sure links",
            .source = source,
            .count =
                [](const EvaluatedSentence& sentence, std::span<double> to) {
                  std::ranges::copy(link_counts(points(sentence)), to.begin());
                },
            .width = std::tuple_size_v<LinkCounts>,
            .part = "link_count"};
  }

 private:
  CountColumn column_;
};

}  // namespace softalign
