// Measures of attention rows (their entropy, the positions they point at, agreement with known links) and of the
// agreement of hypotheses and references, and base classes of alignment metrics. A row contains the weights with
// which one target token was predicted, over the source positions of its sentence, without padding.
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

// Counts the positions at which both have the same token, out of the longer length, so that missing and
// surplus tokens are wrong. <unk> matches no token, not even itself, because an unknown word is not
// an answer.
Count position_matches(std::span<const Token> hypothesis, std::span<const Token> reference);

// Returns whether hypothesis and reference have the same text, ignoring the amount of whitespace between
// words. tokens: of the hypothesis. A hypothesis with <unk> is not exact unless the text has another word for
// each <unk>. replaced: the number of <unk> that were replaced.
bool is_exact(std::span<const Token> tokens,
              std::string_view text,
              std::string_view reference,
              Index replaced = 0);

// Returns the weights of one step.
std::vector<real> row_of(const AlignmentMatrix& matrix, Index step);

// Returns -sum w ln w in nats for weights [S] that sum to 1: 0 if all weight is on one position, ln S
// if the weights are equal.
double entropy(std::span<const real> weights);

// Returns the positions of the largest weight: one, or all that tie. Returns no positions if all weights are 0, or
// equal at several positions. Throws BugError for an empty row.
std::vector<Index> points_at(std::span<const real> weights);

// Returns the source words that each target word points at after joining pieces; empty for a word if all rows of
// its pieces point nowhere.
std::vector<std::vector<Index>> words_point_at(const AlignmentMatrix& pieces,
                                               const WordGroups& words);

// Counts the target tokens that point only at source positions to which they have sure links, out of the tokens
// with a sure link. pointed[j]: the positions that target token j points at; tied positions must all be linked, and
// a token without positions is wrong. Links may be in any order. Throws BugError for a link outside `pointed`.
Count point_count(std::vector<std::vector<Index>> pointed, std::span<const Link> links);

// Returns a sentence's links: from attention or from IBM Model 1, the only difference between their metrics.
using WhoPoints = WordLinks(const EvaluatedSentence&);

// Counts target words that point at a source word with a sure link, out of the words that have a sure link. If the
// largest weights tie, all tied words must be linked; a row of zeros, or with equal weights at all positions, points
// nowhere and is wrong.
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

// Alignment error rate (Och and Ney 2003): AER = 100 (1 - (|A and S| + |A and P|) / (|A| + |S|)). A: links from
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
