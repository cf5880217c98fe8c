// Scheduled sampling (Bengio et al. 2015): a step reads the true previous symbol with probability `truth`,
// otherwise one that the model predicted at the step before. No gradient flows through the choice.
#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/kernels/vector_math.hpp"
#include "framework/seq/model.hpp"

namespace softalign {
namespace {

// Draws an index with probability proportional to e^logits; uniform: a random number in [0, 1).
Token draw(const real* logits, Index count, double uniform) {
  const real largest = *std::max_element(logits, logits + count);
  const auto weight = [=](Index v) { return static_cast<double>(vector_exp(logits[v] - largest)); };
  double left = 0;
  for (Index v = 0; v < count; ++v) left += uniform * weight(v);
  for (Index v = 0; v < count; ++v)
    if ((left -= weight(v)) < 0) return static_cast<Token>(v);
  return static_cast<Token>(count - 1);
}

}  // namespace

// symbols [T,B]: those after the first step are overwritten where another symbol was read.
Unrolled Model::unroll_sampled(Tape& tape,
                               const Source& source,
                               std::span<Token> symbols,
                               Index rows,
                               const Objective& objective) const {
  const auto width = usize(rows);
  const Index steps = std::ssize(symbols) / rows;
  State state = source.state;
  StepByStep all(tape, steps);
  for (Index t = 0; t < steps; ++t) {
    state.step = t;
    Var embedded = embed_target(tape, symbols.subspan(usize(t) * width, width), {rows}, t);
    const DecoderStep now = decoder_->step(source.memory, state, decoder_->inputs(embedded));
    all.push(now);
    state = now.next;
    if (t + 1 < steps)
      feed_own_symbols(now,
                       embedded,
                       source.memory,
                       symbols.subspan(usize(t + 1) * width, width),
                       t + 1,
                       objective);
  }
  return all.all();
}

// Replaces some of `next` [B], the true symbols for the step at `position`, by symbols of the model.
void Model::feed_own_symbols(const DecoderStep& step,
                             Var embedded,
                             const AttentionMemory& memory,
                             std::span<Token> next,
                             Index position,
                             const Objective& objective) const {
  Tape& tape = embedded.tape();
  const Noise& noise = *tape.noise();
  const RandomStream stream = noise.stream(sampling_);
  for (Var part : step.output)
    part.value();  // marks it as read, so that the operations below do not overwrite it
  const Tape::Mark mark = tape.mark();
  const View logits = output_layer_->logits(output_of(step, embedded, memory)).value();
  const Index columns = logits.shape.last();
  for (std::size_t b = 0; b < next.size(); ++b) {
    const std::uint64_t round = noise.round(static_cast<Index>(b), position);
    if (static_cast<double>(stream.uniform(0, round)) < objective.truth) continue;
    const real* row = logits.data + static_cast<Index>(b) * columns;
    const Token own = objective.argmax
                          ? static_cast<Token>(std::max_element(row, row + columns) - row)
                          : draw(row, columns, static_cast<double>(stream.uniform(1, round)));
    next[b] = in_vocabulary(own, target_symbols_);
  }
  tape.rewind(mark);
}

}  // namespace softalign
