#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/seq/conformance_subject.hpp"
#include "framework/seq/copying.hpp"
#include "framework/seq/output_layer.hpp"

namespace softalign::conformance {
namespace {

constexpr Index kVocabulary = kSpecials + kSymbols;
const Objective kObjective{.factor = real(0.25), .label_smoothing = real(0.1)};

std::span<Token> symbols_of(Tape& tape, Var numbers) {
  const Index count = numbers.shape().size();
  Token* symbols = tape.arena().array_of<Token>(count);
  for (Index i = 0; i < count; ++i)
    symbols[i] = kSpecials + static_cast<Token>(numbers.value().data[i]) % kSymbols;
  return {symbols, usize(count)};
}

// Returns the copies [B,S] for a target vocabulary that lacks every second source symbol.
std::span<const Token> copies_of(Tape& tape, std::span<const Token> sources, Index positions) {
  Token* copies = tape.arena().array_of<Token>(std::ssize(sources));
  for (std::size_t row = 0; row < sources.size(); row += usize(positions)) {
    const std::span<const Token> source = sources.subspan(row, usize(positions));
    for (std::size_t s = 0; s < source.size(); ++s)
      copies[row + s] =
          source[s] % 2 == 0
              ? source[s]
              : static_cast<Token>(kVocabulary +
                                   (std::ranges::find(source, source[s]) - source.begin()));
  }
  return {copies, sources.size()};
}

// Returns the numbers as symbols; in a sentence with symbols that the vocabulary lacks, the first of these.
std::span<const Token> targets_of(Tape& tape, Var numbers, const SourceBatch& source) {
  const std::span<Token> targets = symbols_of(tape, numbers);
  for (Index b = 0; b < std::ssize(targets); ++b) {
    const auto row =
        source.copies.subspan(usize(b * source.positions), usize(source.lengths[usize(b)]));
    const auto own = std::ranges::find_if(row, [](Token copy) { return copy >= kVocabulary; });
    if (own != row.end()) targets[usize(b)] = *own;
  }
  return targets;
}

// Returns columns [first, first + count) of the logits, with 0 for symbols that cannot be written.
Var columns_of(Var logits, Index first, Index count) {
  const Index rows = logits.shape()[0], columns = logits.shape()[1];
  const View part = logits.tape().allocate({rows, count});
  for (Index b = 0; b < rows; ++b)
    for (Index v = 0; v < count; ++v) {
      const real logit = logits.value().data[b * columns + first + v];
      part.data[b * count + v] = logit == kImpossible ? 0 : logit;
    }
  return logits.tape().record(part, {logits}, [=](View dpart) {
    const View dlogits = logits.gradient();
    for (Index b = 0; b < rows; ++b)
      for (Index v = 0; v < count; ++v)
        dlogits.data[b * columns + first + v] += dpart.data[b * count + v];
  });
}

// Returns factor * sum of (1 - smoothing) nll + smoothing uniform, for logits [B,V] or [B,V + S].
Var cross_entropy(Var logits, std::span<const Token> targets) {
  Tape& tape = logits.tape();
  const Index rows = logits.shape()[0], columns = logits.shape()[1];
  const View losses = tape.zeros({rows}), slopes = tape.zeros(logits.shape());
  for (Index b = 0; b < rows; ++b) {
    const real* row = logits.value().data + b * columns;
    real sum = 0;
    for (Index v = 0; v < columns; ++v) sum += std::exp(row[v]);
    for (Index v = 0; v < columns; ++v) {
      if (row[v] == kImpossible) continue;
      const real share =
          (v < kVocabulary ? kObjective.label_smoothing / static_cast<real>(kVocabulary) : 0) +
          (v == targets[usize(b)] ? 1 - kObjective.label_smoothing : 0);
      losses.data[b] += kObjective.factor * share * (std::log(sum) - row[v]);
      slopes.data[b * columns + v] = kObjective.factor * (std::exp(row[v]) / sum - share);
    }
  }
  return tape.record(losses, {logits}, [=](View dlosses) {
    const View dlogits = logits.gradient();
    for (Index i = 0; i < slopes.size(); ++i)
      dlogits.data[i] += dlosses.data[i / columns] * slopes.data[i];
  });
}

}  // namespace

std::unique_ptr<Subject> output_layer_subject(const Choice& choice) {
  constexpr Index kReadout = 7, kOutputs = 5;
  auto subject = std::make_unique<Subject>();
  const TargetFormat target = kVocabulary;
  std::shared_ptr<OutputLayer> layer =
      make_plugin<OutputLayerKind>(choice,
                                   Parameters(subject->parameters),
                                   OutputSizes{.readout = kReadout,
                                               .symbols = kVocabulary,
                                               .tied = nullptr,
                                               .outputs = kOutputs,
                                               .embedding = kEmbedding,
                                               .values = target.values});
  subject->input("readout", {kRows, kReadout}, false);
  subject->input("energies", {kRows, kPositions}, true);
  subject->input("source", {kRows, kPositions}, true);
  subject->input("target", {kRows, 1}, false);
  subject->input("outputs", {kRows, kOutputs}, false);
  subject->input("embedded", {kRows, kEmbedding}, false);
  subject->inputs[2].make_symbols();
  subject->inputs[3].make_symbols();
  subject->positional_outputs = {false};
  if (layer->copies()) subject->positional_outputs.push_back(true);
  using Use = std::function<Arrays(const OutputInput&, std::span<const Token> targets)>;
  const auto given =
      [layer](
          Tape& tape, const Arrays& x, std::span<const Index> lengths, const Use& use) -> Arrays {
    AttentionMemory memory{{.lengths = lengths}};
    memory.source = {symbols_of(tape, x[2]), x[2].shape()[0], x[2].shape()[1], lengths};
    if (layer->copies())
      memory.source.copies = copies_of(tape, memory.source.tokens, memory.source.positions);
    const Var weights = softmax_prefix(x[1], lengths);
    return use({x[0], {&weights, 1}, memory, x[4], x[5]},
               layer->copies() ? targets_of(tape, x[3], memory.source) : symbols_of(tape, x[3]));
  };
  subject->run = [=](Tape& tape, const Arrays& x, std::span<const Index> lengths) {
    return given(tape, x, lengths, [&](const OutputInput& in, auto) -> Arrays {
      const Var logits = layer->logits(in);
      if (!layer->copies()) return {logits};
      if (logits.shape().last() != copy_columns(kVocabulary, in.memory.source))
        throw BugError("[output_layer] it copies, but its logits are {}, not [B,V + S]",
                       logits.shape().str());
      return {columns_of(logits, 0, kVocabulary),
              columns_of(logits, kVocabulary, in.memory.source.positions)};
    });
  };
  subject->formula = [=](Tape& tape, const Arrays& x, std::span<const Index> lengths) {
    return given(tape, x, lengths, [&](const OutputInput& in, auto targets) -> Arrays {
      return {cross_entropy(layer->logits(in), targets)};
    });
  };
  subject->loss = [=](Tape& tape, const Arrays& x, std::span<const Index> lengths) {
    return given(tape, x, lengths, [&](const OutputInput& in, auto targets) -> Arrays {
      return {losses_of(*layer, output_rows(*layer, in, targets, kObjective), kObjective).loss};
    });
  };
  return subject;
}

}  // namespace softalign::conformance
