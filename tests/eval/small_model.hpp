// A model of nine symbols with three sentences, and its probabilities, computed for one sentence and one prefix
// at a time, as the reference of searches.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

struct SmallModel {
  static constexpr Token kSymbols = 9;
  std::unique_ptr<Model> model;
  std::vector<Token> tokens = {5, 3, 7, 4, 2, /**/ 6, 6, 2, 2, 2, /**/ 3, 2, 2, 2, 2};
  std::vector<Index> lengths = {5, 3, 2};

  explicit SmallModel(const std::string& attention = "global", std::uint64_t seed = 4) {
    ModelOptions options;
    options.embedding = 8;
    options.attention.type = attention;
    model = std::make_unique<Model>(options, kSymbols, kSymbols, seed);
    // Weights are larger than initial ones, so that the choices differ between steps.
    ParameterStore& store = model->parameters();
    for (Index i = 0; i < store.flat_size(); ++i) store.values()[i] *= 2.5f;
  }
  SourceBatch all() const { return {tokens, 3, 5, lengths, {}, {}}; }
  // Returns one sentence; number: storage that the batch refers to.
  SourceBatch one(Index sentence, const Index& number) const {
    const auto b = usize(sentence);
    return {std::span(tokens).subspan(5 * b, usize(lengths[b])),
            1,
            lengths[b],
            std::span(lengths).subspan(b, 1),
            {},
            {&number, 1}};
  }
};

struct NextStep {
  std::vector<double> p;        // of each symbol
  std::vector<double> weights;  // of each source position; empty without attention
};

// Returns the probabilities after a prefix, for one sentence.
inline NextStep next_step(const SmallModel& small, Index sentence, std::span<const Token> prefix) {
  Tape tape(Tape::Mode::infer);
  Model::Source source = small.model->read(tape, small.one(sentence, sentence));
  std::vector<Token> previous = {kBegin};
  Model::Prediction prediction;
  for (std::size_t i = 0; i <= prefix.size(); ++i) {
    if (i > 0) previous = {prefix[i - 1]};
    prediction = small.model->predict(tape, source, previous);
    source.state = prediction.next;
  }
  NextStep next;
  double sum = 0;
  for (const real x : prediction.logits.value())
    sum += next.p.emplace_back(std::exp(static_cast<double>(x)));
  for (double& p : next.p) p /= sum;
  if (prediction.weights)
    for (const real w : prediction.weights.value()) next.weights.push_back(static_cast<double>(w));
  return next;
}

}  // namespace softalign
