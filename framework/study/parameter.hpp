// One parameter of a sweep: the values that it takes, one after the other or drawn. What a block
// may say:
//
//   model.attention.score.type: {values: [dot, additive]}
//   model.encoder.type:         {types: all, exclude: [gru]}      # every registered plugin but these
//   train.epochs:               {value: 3}
//   model.encoder.units:        {range: {start: 64, stop: 256, step: 64}}        # stop included
//   train.clip_norm:            {linspace: {min: 0.5, max: 2, num: 4}}
//   train.optimizer.learning_rate: {geomspace: {min: 0.0001, max: 0.01, num: 5}}
//
// and for the methods that draw (random, optuna) besides:
//
//   {distribution: uniform | int_uniform | log_uniform_values, min: .., max: .., q: ..}
//   {distribution: normal, mu: .., sigma: .., q: ..}        q: a multiple of this is taken
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
  std::string kind_text;      // the kind in a user's words, "geomspace", "int_uniform (inferred)"
  std::vector<Value> values;  // of Kind::values; empty while `all_types`
  bool all_types = false;     // values are the registered plugins, without `excluded`
  std::vector<Value> excluded;
  double low = 0;   // min, or mu
  double high = 0;  // max, or sigma
  double step = 0;  // q; 0: none

  // For Kind::values: "log" (geomspace), "linear" (range, linspace), else empty.
  std::string spacing;

  bool is_finite() const { return kind == Kind::values; }
  // The scale that it was declared with, "log" or "linear"; empty for a list of values.
  std::string scale() const;
  // A value drawn for configuration `index`; `attempt` gives another one. Numbers are rounded to 6
  // significant digits, so that a plan says exactly what is run.
  Value draw(std::uint64_t seed, Index index, std::uint64_t attempt) const;
  // The multiples of q that the range begins and ends with.
  double first_multiple() const;
  double last_multiple() const;

  template <class V>
  void describe(V& v);
};

std::string_view to_string(SweepParameter::Kind kind);
bool from_string(std::string_view name, SweepParameter::Kind& kind);

// Throws SpecError for what is not as above, for empty ranges and lists, and for values that come
// twice.
SweepParameter read_parameter(const Value::Entry& entry);

// A number as every reader of YAML takes it for one: PyYAML (1.1) thinks 1e-05 a text, so 1.0e-05.
std::string number_for_all(double x);

// A value with at most 6 significant digits, without the noise of 0.1 + 0.2; `whole`: an integer.
Value number(double x, const Position& where, bool whole = false);

// Returns whether two scalars have the same value: 0.001 and 1e-3 do.
bool same_value(const Value& a, const Value& b);

// A value as parse_flow reads it.
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
