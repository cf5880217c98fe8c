// The subject of conformance tests: a plugin of any kind as one function, with inputs to call it on. Nothing
// here says what must hold of it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "framework/autodiff/tape.hpp"
#include "framework/config/registry.hpp"

namespace softalign::conformance {

using Arrays = std::vector<Var>;

// A plugin as a function from arrays to arrays, all with sentences as their first axis.
// `positional` ones have the source positions as their second.
struct Subject {
  struct Input {
    std::vector<real> numbers;
    Shape shape;
    bool positional;

    // Turns each number into some symbol and a half, so that a small step changes none.
    void make_symbols();
  };
  std::vector<Input> inputs;
  std::vector<bool> positional_outputs;
  using Run = std::function<Arrays(Tape&, const Arrays&, std::span<const Index>)>;
  Run run;
  Run loss, formula;  // of an output layer: its loss, and that of its logits by the formula
  ParameterStore parameters;
  bool permutable = false;         // the source positions may be exchanged
  int weights_output = -1;         // which output holds attention weights
  bool weights_sum_to_one = true;  // else to anything

  void input(const char* name, Shape shape, bool positional);  // with random numbers
};

constexpr Index kRows = 3, kPositions = 5;  // sentences and source positions of the inputs
constexpr Index kEmbedding = 7;
constexpr Token kSymbols = 16;  // without the specials

// Null for kinds that are not parts of a model, and for placeholders such as built_in.
std::unique_ptr<Subject> subject_for(const Choice& choice);
std::unique_ptr<Subject> output_layer_subject(const Choice& choice);

}  // namespace softalign::conformance
