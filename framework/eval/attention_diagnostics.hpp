// Reading attention weights: how spread a row is, where it points, and whether that is where a known link says;
// how a hypothesis agrees with its reference; and what metrics of alignments share. A row is the weights with
// which one target token was predicted, over the sentence's own source positions: no padding.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

// Hits out of a total.
struct Count {
  Index hits = 0;
  Index total = 0;
};

// Counts positions at which both have the same token, out of the longer one's length: missing and
// surplus tokens are wrong. <unk> matches nothing, not even itself, because an unknown word is not
// an answer.
Count position_matches(std::span<const Token> hypothesis, std::span<const Token> reference);

// Returns whether hypothesis and reference have the same text, ignoring the amount of white space between
// words. tokens: of the hypothesis; it is not exact if one of them is <unk>, unless the text has another word for each
// (replaced: for how many).
bool is_exact(std::span<const Token> tokens,
              std::string_view text,
              std::string_view reference,
              Index replaced = 0);

// The weights of one step.
std::vector<real> row_of(const AlignmentMatrix& matrix, Index step);

// -sum w ln w in nats, of weights [S] that sum to 1: 0 when all weight is on one position, ln S
// when it is spread evenly.
double entropy(std::span<const real> weights);

// Positions of the largest weight: one, or all that share it; none where all weights are 0, or even over several
// positions. Throws BugError for an empty row.
std::vector<Index> points_at(std::span<const real> weights);

// Returns the source words that target words point at when pieces are joined; empty if all rows of a word
// point nowhere.
std::vector<std::vector<Index>> words_point_at(const AlignmentMatrix& pieces,
                                               const WordGroups& words);

// Counts, of the target tokens with a sure link, those that point at source positions that they are all
// surely linked to: an even row is wrong, and right where a word has many links. pointed[j]: where target token
// j points. Links may come in any order. Throws BugError when a link lies outside of `pointed`.
Count point_count(std::vector<std::vector<Index>> pointed, std::span<const Link> links);

// Who points: the difference between the metrics of attention's alignments and of IBM Model 1's.
using WhoPoints = WordLinks(const EvaluatedSentence&);

// Counts target words that point at a source word with a sure link, out of those that have a sure link. If the
// largest weights tie, all tied words must be linked; a row with equal weights at all positions points nowhere and
// is wrong, and so is a row of zeros.
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

// Alignment error rate (Och and Ney 2003):   AER = 100 (1 - (|A and S| + |A and P|) / (|A| + |S|)) A: links from
// target words to the source words that they point at, as above; S: sure links; P: possible links, including the sure
// ones. Computed over all sentences that have a gold link.
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
