// Plugins with known parameters, and the cases of tests/reference/alignment.json, for tests of scores and attentions.
#pragma once

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/yaml.hpp"
#include "framework/plugin.hpp"

namespace softalign::test {

inline constexpr Index kSteps = 3, kPositions = 4, kQuery = 3, kAnnotation = 4;
inline const std::set<std::string> kOneSize = {"cosine", "dot", "scaled_dot"};  // Q = D
inline const std::vector<Index> kLengths = {4, 2};
inline const std::vector<std::vector<Link>> kLinks = {{{2, 0}, {0, 1}, {3, 1}}, {{0, 2}}};

// Fills an array with the same numbers as tests/reference/alignment.py.
inline void fill(View array, double phase) {
  for (Index i = 0; i < array.size(); ++i)
    array.data[i] = 0.9 * std::sin(1.7 * static_cast<double>(i) + phase);
}
inline View filled(Tape& tape, const Shape& shape, double phase) {
  View array = tape.allocate(shape);
  fill(array, phase);
  return array;
}

struct Holder {
  Choice choice;
  template <class V>
  void describe(V& v) {
    v("choice", choice, "a plugin");
  }
};
inline Choice choice_of(const char* kind, const std::string& option) {
  Holder holder{{.kind = kind}};
  read_options(parse_flow("{choice: " + option + "}", {}), holder, "the test");
  return holder.choice;
}

// A plugin whose k-th parameter is filled with phase 10 + k.
template <class Kind, class Sizes>
struct Built {
  ParameterStore store;
  decltype(make_plugin<Kind>(Choice{}, Parameters(store), Sizes{})) plugin;
  Built(const std::string& option, Sizes sizes)
      : plugin(make_plugin<Kind>(choice_of(Kind::name, option), Parameters(store), sizes)) {
    store.allocate(1);
    double phase = 10;
    for (const Parameter& parameter : store.all()) fill(parameter.value(), phase++);
  }
};
using BuiltScore = Built<ScoreKind, ScoreSizes>;
using BuiltAttention = Built<AttentionKind, AttentionSizes>;

struct Step {
  std::vector<double> weights, context;  // [B,S], [B,D]
};
// Returns the first steps of an attention: annotations are filled with phase 1, queries with phase 2 + step.
// own_values: contexts average values other than the annotations.
inline std::vector<Step> steps_of(const Attention& attention,
                                  Index positions = kPositions,
                                  const std::vector<Index>& lengths = kLengths,
                                  Index steps = kSteps,
                                  bool own_values = false) {
  Tape tape(Tape::Mode::infer);
  const Index rows = std::ssize(lengths);
  Annotations annotations;
  annotations.states = tape.constant(filled(tape, {rows, positions, kAnnotation}, 1));
  if (own_values)
    annotations.values = tape.constant(filled(tape, {rows, positions, kAnnotation}, 3));
  annotations.lengths = lengths;
  AttentionMemory memory = attention.prepare(annotations);
  if (attention.reads_links()) memory.source.links = kLinks;
  State past = attention.start(memory);
  std::vector<Step> all;
  for (Index t = 0; t < steps; ++t) {
    Var state = tape.constant(filled(tape, {rows, kQuery}, static_cast<double>(2 + t)));
    const Glimpse glimpse = attention.attend(memory, {{state, t, {}}, past});
    past = glimpse.next;
    const View w = glimpse.weights.value(), c = glimpse.context.value();
    all.push_back({{w.begin(), w.end()}, {c.begin(), c.end()}});
  }
  return all;
}

struct Case {
  std::string option;
  Index query;
  std::vector<double> numbers;
};
inline std::vector<Case> cases_of(const char* kind) {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/reference/alignment.json");
  const auto all = nlohmann::json::parse(file);
  std::vector<Case> cases;
  for (const auto& one : all.at(kind)) cases.push_back({one[0], one[1], one[2]});
  return cases;
}

inline void equal(const std::vector<double>& a, const std::vector<double>& b) {
  BOOST_REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST_CONTEXT("number " << i << ": " << a[i] << " and " << b[i])
  BOOST_TEST(std::abs(a[i] - b[i]) < 1e-11);
}

}  // namespace softalign::test
