// A statement about test results that is true or false, and the claims of a file. Only parsing and
// arithmetic: the caller supplies the measured values.
//
//   token_accuracy[21-30](reverse/additive) >= token_accuracy[21-30](reverse/none) + 20
//
//   statement := sum ("<" | "<=" | ">" | ">=") sum
//   sum       := product (("+" | "-") product)*
//   product   := factor ("*" factor)*
//   factor    := "-" factor | "(" sum ")" | number | measurement
//   measurement := metric ["[" lengths "]"] "(" subject ")"
//                | diagnostic [".start"] "." array ["[" places "]"] "(" subject ")"
//   subject   := part "/" variant                                          of a study
//              | "best" ["where" path "=" value ("," path "=" value)*]   of a sweep
//   value     := as in YAML on one line: dot, 1.0e-3, {type: dot}
//   lengths   := 31-50 | 61+ | 40        source length, both ends included; default: all sentences
//   places    := as lengths, from 0      positions on the array's axis, to average over; default: all
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"

namespace softalign {

// A parameter of a sweep and its value, as read by parse_flow.
struct Setting {
  std::string path;
  Value value;
};

// A metric over the test sentences of one variant, or of a sweep's best configuration, in a range of source lengths; or
// a finding of a diagnostic, in a range of positions along its axis.
struct Measurement {
  std::string metric;  // "bleu", "faithfulness.permuted_loss"
  Index shortest = 0;
  Index longest = std::numeric_limits<Index>::max();
  std::string part;
  std::string variant;         // empty: the best configuration
  std::vector<Setting> among;  // the best is chosen among configurations with these settings
  std::string text;            // as written, for messages

  bool of_diagnostic() const { return metric.find('.') != std::string::npos; }
};

class Statement {
 public:
  // Throws SpecError "study.yaml:40:12: expected ... at character 17 of '...'" for a text that the grammar
  // above does not allow.
  Statement(std::string_view text, const Position& where);

  const std::string& text() const { return text_; }
  // In the order of the text; `values` below has one value for each.
  const std::vector<Measurement>& measurements() const { return measurements_; }

  double left(const std::vector<double>& values) const { return value(left_, values); }
  double right(const std::vector<double>& values) const { return value(right_, values); }
  // Returns false if either side is NaN.
  bool holds(double left, double right) const;
  const std::string& comparison() const { return comparison_; }

 private:
  class Parser;
  // A tree in a flat list: operands are indices in terms_.
  struct Term {
    enum class Kind { number, measurement, add, subtract, multiply, negate };
    Kind kind = Kind::number;
    double number = 0;
    std::size_t first = 0;  // index of the measurement or of the first operand
    std::size_t second = 0;
  };
  double value(std::size_t term, const std::vector<double>& values) const;

  std::string text_;
  std::vector<Measurement> measurements_;
  std::vector<Term> terms_;
  std::size_t left_ = 0;
  std::size_t right_ = 0;
  std::string comparison_;
};

// The claims of a study's or a sweep's file: statements about test results, and whether they are
// expected to hold.
//
//   claims:
//     - claim: bleu(best where model.attention.type=global) > bleu(best where model.attention.type=none)
//       because: why we think so
//       expect: holds                             # or open: reported, never an error
struct StudyClaim {
  Statement statement;
  Position where;
  std::string because;
  bool open = false;  // not expected to hold
};

// Throws SpecError. `check` throws it for measurements of variants or settings that the file does not have.
std::vector<StudyClaim> read_claims(
    const Value& list, const std::function<void(const Measurement&, const Position&)>& check);

}  // namespace softalign
