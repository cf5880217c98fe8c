// How often attention is strongest on a source position that the target token is surely linked to, of the target
// tokens that have a sure link. Where the largest weights tie, it is right when all of the tied positions are
// linked; a row that is even over all positions points nowhere and is wrong, as is one of zeros. Pieces of words
// are joined before (eval/words.hpp).
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {

class PointingAccuracy final : public Metric {
 public:
  using Options = NoOptions;
  explicit PointingAccuracy(const Options&) {}

  MetricFacts about() const override {
    return {.title = "pointing accuracy", .place = 4, .main = true};
  }
  std::vector<CountColumn> columns() const override {
    return {{.name = "pointing_hits",
             .long_name = "sure links that attention's argmax hits",
             .off = Counted::attention,
             .count =
                 [](const EvaluatedSentence& sentence, std::span<double> to) {
                   to[0] = static_cast<double>(points_of(sentence).hits);
                 }},
            {.name = "pointing_tokens",
             .long_name = "target tokens with a sure link",
             .off = Counted::attention,
             .count = [](const EvaluatedSentence& sentence, std::span<double> to) {
               to[0] = static_cast<double>(points_of(sentence).total);
             }}};
  }
  double value(const Counts& counts) const override {
    return ratio(100 * counts.sum("pointing_hits"), counts.sum("pointing_tokens"));
  }

 private:
  static Count points_of(const EvaluatedSentence& sentence) {
    if (sentence.links.empty()) return {};
    const AlignmentMatrix& attention = *sentence.attention;
    if (sentence.words != nullptr) {
      auto pointed = words_point_at(attention, *sentence.words);
      pointed.pop_back();  // </s>, which is linked to nothing
      return point_count(std::move(pointed), join(sentence.links, *sentence.words));
    }
    std::vector<std::vector<Index>> pointed;
    for (std::size_t t = 0; t < sentence.example.target.size(); ++t)
      pointed.push_back(points_at(row_of(attention, static_cast<Index>(t))));
    return point_count(std::move(pointed), sentence.links);
  }
};

SOFTALIGN_METRIC("pointing_accuracy",
                 PointingAccuracy,
                 "attention's argmax is a surely linked source token");

}  // namespace softalign
