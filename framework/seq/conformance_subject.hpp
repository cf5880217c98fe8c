// The subject of conformance tests: a plugin of any kind as one function, with inputs to call it on. The tests
// are in conformance.cpp.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "framework/autodiff/tape.hpp"
#include "framework/config/registry.hpp"

namespace softalign::conformance {

using Arrays = std::vector<Var>;

// A plugin as a function from arrays to arrays, all with sentences as their first axis. The second
// axis of a `positional` array is the source positions.
struct Subject {
  struct Input {
    std::vector<real> numbers;
    Shape shape;
    bool positional;

    // Replaces each number by a symbol's index plus 0.5, so that a small step does not change the symbol.
    void make_symbols();
  };
  std::vector<Input> inputs;
  std::vector<bool> positional_outputs;
  using Run = std::function<Arrays(Tape&, const Arrays&, std::span<const Index>)>;
  Run run;
  Run loss, formula;  // output layers only: the loss, and its formula applied to the logits
  ParameterStore parameters;
  bool permutable = false;         // permuted source positions give permuted outputs
  int weights_output = -1;         // index of the output with attention weights; -1: none
  bool weights_sum_to_one = true;  // false: rows may have any sum

  void input(const char* name, Shape shape, bool positional);  // adds an input of random numbers
};

constexpr Index kRows = 3, kPositions = 5;  // sentences and source positions of the inputs
constexpr Index kEmbedding = 7;
constexpr Token kSymbols = 16;  // without the specials

// Returns null for kinds that are not parts of a model, and for placeholders such as built_in.
std::unique_ptr<Subject> subject_for(const Choice& choice);
std::unique_ptr<Subject> output_layer_subject(const Choice& choice);

}  // namespace softalign::conformance
