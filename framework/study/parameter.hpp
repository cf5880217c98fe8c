// One parameter of a sweep, with a list of values or a distribution. A block has one of these
// forms:
//
//   model.attention.score.type: {values: [dot, additive]}
//   model.encoder.type:         {types: all, exclude: [gru]}      # all registered plugins except these
//   train.epochs:               {value: 3}
//   model.encoder.units:        {range: {start: 64, stop: 256, step: 64}}        # stop included
//   train.clip_norm:            {linspace: {min: 0.5, max: 2, num: 4}}
//   train.optimizer.learning_rate: {geomspace: {min: 0.0001, max: 0.01, num: 5}}
//
// and also, for the methods that draw (random, optuna):
//
//   {distribution: uniform | int_uniform | log_uniform_values, min: .., max: .., q: ..}
//   {distribution: normal, mu: .., sigma: .., q: ..}        q: rounded to a multiple of this
//   {min: .., max: ..}           int_uniform for two integers, else uniform
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/config/merge.hpp"
#include "framework/config/value.hpp"

namespace softalign {

struct SweepParameter {
  enum class Kind { values, uniform, int_uniform, log_uniform, normal };

  std::string path;  // "model.encoder.units"
  Position where;    // of the path
  Kind kind = Kind::values;
  std::string kind_text;      // the kind as named in files, "geomspace", "int_uniform (inferred)"
  std::vector<Value> values;  // for Kind::values; empty for `all_types` until they are known
  bool all_types = false;     // values are the registered plugins, without `excluded`
  std::vector<Value> excluded;
  double low = 0;   // min, or mu
  double high = 0;  // max, or sigma
  double step = 0;  // q; 0: not given

  // For Kind::values: "log" (geomspace), "linear" (range, linspace), else empty.
  std::string spacing;

  bool is_finite() const { return kind == Kind::values; }
  // Returns the declared scale, "log" or "linear"; empty for a list of values.
  std::string scale() const;
  // Returns the value drawn for configuration `index`; each `attempt` gives another one. Numbers are
  // rounded to 6 significant digits, so that the plan contains the exact values of its runs.
  Value draw(std::uint64_t seed, Index index, std::uint64_t attempt) const;
  // The smallest and the largest multiple of q in the range.
  double first_multiple() const;
  double last_multiple() const;

  template <class V>
  void describe(V& v);
};

std::string_view to_string(SweepParameter::Kind kind);
bool from_string(std::string_view name, SweepParameter::Kind& kind);

// Throws SpecError for a block in no form above, for empty ranges and lists, and for duplicate
// values.
SweepParameter read_parameter(const Value::Entry& entry);

// Returns a number as text that every YAML reader parses as a number: 1.0e-05, because PyYAML (YAML 1.1) reads 1e-05 as
// a string.
std::string number_for_all(double x);

// Returns a value with at most 6 significant digits, without rounding noise as in 0.1 + 0.2. whole: an integer.
Value number(double x, const Position& where, bool whole = false);

// Returns whether two scalars have the same value: 0.001 and 1e-3 do.
bool same_value(const Value& a, const Value& b);

// The text of a value, in the form that parse_flow reads.
inline std::string to_string(const Value& value) { return value.flow(); }
bool from_string(std::string_view text, Value& value);
// Returns the setting as on a command line: "model.embedding=9".
inline std::string to_string(const Override& setting) {
  return setting.path + "=" + setting.value.flow();
}
bool from_string(std::string_view text, Override& setting);

template <class V>
void SweepParameter::describe(V& v) {
  v("path", path);
  v("kind", kind);
  v("values", values);
  v("low", low);
  v("high", high);
  v("q", step);
  v("spacing", spacing);
}

}  // namespace softalign
