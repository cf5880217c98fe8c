// Errors of forecasts: the distance of each number of a hypothesis from that of the reference at the same position,
//   mean_absolute_error = sum |y - x| / n,   rmse = sqrt(sum (y - x)^2 / n),
// over all n numbers of the references, in their unit. Undefined if a hypothesis lacks one of them: a missing value has
// no error, and without it a forecast that stops early would look better. Numbers beyond the reference are not compared
// (length_ratio shows them). Measured for tasks whose targets are numbers, such as series.
#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/data/text.hpp"
#include "framework/eval/metric.hpp"

namespace softalign {
namespace {

// Sums of |y - x| and of its square over the positions at which both texts have numbers.
struct Distances {
  double absolute = 0, squared = 0;
  Index count = 0, missing = 0;  // positions; missing: those of the reference that are not compared
};

Distances distances_of(const EvaluatedSentence& sentence) {
  const auto hypothesis = split_words(sentence.decoded->text),
             reference = split_words(sentence.example.target_text);
  Distances found;
  for (std::size_t i = 0; i < std::min(hypothesis.size(), reference.size()); ++i) {
    const auto y = number_in(hypothesis[i]), x = number_in(reference[i]);
    if (!y || !x) continue;
    found.absolute += std::abs(*y - *x);
    found.squared += (*y - *x) * (*y - *x);
    ++found.count;
  }
  found.missing = std::ssize(reference) - found.count;
  return found;
}

template <auto Distances::*part>
CountColumn column(const char* name, const char* long_name) {
  return {.name = name,
          .long_name = long_name,
          .source = CountSource::numbers,
          .count =
              [](const EvaluatedSentence& sentence, std::span<double> to) {
                to[0] = static_cast<double>(distances_of(sentence).*part);
              },
          .stored = CountColumn::Stored::float64};
}

CountColumn compared() {
  return column<&Distances::count>("compared_numbers",
                                   "positions at which hypothesis and reference have numbers");
}

CountColumn missing() {
  return column<&Distances::missing>("missing_numbers",
                                     "positions of the reference at which a number is missing");
}

class NumericError : public Metric {
 public:
  using Options = NoOptions;

  std::vector<CountColumn> columns() const override { return {errors_, compared(), missing()}; }

 protected:
  explicit NumericError(CountColumn errors) : errors_(std::move(errors)) {}
  static MetricFacts facts_of(const char* title) {
    return {.title = title,
            .units = "1",
            .higher_is_better = false,
            .most = kNoLimit,
            .order = 2,
            .main_of_numbers = true};
  }
  double mean(const Counts& counts) const {
    if (counts.sum("missing_numbers") > 0) return kUndefined;
    return ratio(counts.sum(errors_.name), counts.sum("compared_numbers"));
  }

 private:
  CountColumn errors_;
};

class MeanAbsoluteError final : public NumericError {
 public:
  explicit MeanAbsoluteError(const Options&)
      : NumericError(column<&Distances::absolute>("absolute_error", "summed over the positions")) {}
  MetricFacts about() const override { return facts_of("mean absolute error"); }
  double value(const Counts& counts) const override { return mean(counts); }
};

class Rmse final : public NumericError {
 public:
  explicit Rmse(const Options&)
      : NumericError(column<&Distances::squared>("squared_error", "summed over the positions")) {}
  MetricFacts about() const override { return facts_of("RMSE"); }
  double value(const Counts& counts) const override { return std::sqrt(mean(counts)); }
};

SOFTALIGN_METRIC("mean_absolute_error",
                 MeanAbsoluteError,
                 "mean distance of the hypothesis' numbers from the reference's; undefined if the "
                 "hypothesis lacks one");
SOFTALIGN_METRIC(
    "rmse",
    Rmse,
    "root of the mean squared distance of the hypothesis' numbers from the reference's; undefined "
    "if the hypothesis lacks one");

}  // namespace
}  // namespace softalign
