#include "framework/seq/attention.hpp"

#include <algorithm>

#include "framework/autodiff/rematerialize.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/work.hpp"
#include "framework/seq/changed_weights.hpp"

namespace softalign {

ScoredAttention::ScoredAttention(const Parameters& p, AttentionSizes sizes, const Options& options)
    : annotation_(sizes.annotation),
      score_(make_plugin<ScoreKind>(
          options.score, p / "score", ScoreSizes{sizes.query, sizes.annotation})) {}

AttentionMemory ScoredAttention::prepare(const Annotations& annotations) const {
  AttentionMemory memory{score_->prepare(annotations.states)};
  if (!memory.values) memory.values = annotations.averaged();
  memory.lengths = annotations.lengths;
  memory.states = annotations.states;
  return memory;
}

// The state: the attention's own arrays, then the sum of the weights so far if the score reads it.
State ScoredAttention::start(const AttentionMemory& memory) const {
  State state = own_start(memory);
  if (!score_->reads_attended()) return state;
  Tape& tape = memory.values.tape();
  state.push(tape.constant(tape.zeros({memory.values.shape()[0], memory.values.shape()[1]})));
  return state;
}

Glimpse ScoredAttention::attend(const AttentionMemory& whole, const AttentionQuery& asked) const {
  AttentionMemory memory = whole;
  memory.lengths = reachable(whole);
  AttentionQuery query = asked;
  narrow(memory, query);
  if (score_->reads_attended()) query.attended = query.past[query.past.size() - 1];
  const Alignment alignment = align(memory, energies(*score_, memory, query), query);
  Var averaged = alignment.averaged ? alignment.averaged : alignment.weights;
  if (whole.inspection.change != nullptr) {  // also outside reach() and narrow()
    averaged = changed_weights(whole.inspection, averaged, whole.lengths, query.step);
    memory.lengths = whole.lengths;
  }
  Glimpse glimpse{
      weighted_sum(averaged, memory.values, memory.lengths), alignment.weights, alignment.next};
  if (query.attended) glimpse.next.push(query.attended + averaged);
  return glimpse;
}

// A score that leaves more than half the keys' size (plus 64 KiB) on the tape at a step is recomputed
// in backward.
Var ScoredAttention::energies(const Score& score, const Memory& memory, const Query& query) {
  count_energies(memory.lengths, 1, memory.begins);
  const auto keep = usize(memory.keys.value().size()) * sizeof(real) / 2 + 65536;
  return rematerialize<3>(
      memory.keys.tape(),
      {memory.keys, query.state, query.attended},
      keep,
      [&score, lengths = memory.lengths, begins = memory.begins, step = query.step](auto inputs) {
        return score.score({inputs[0], {}, lengths, begins}, {inputs[1], step, inputs[2]});
      });
}

std::span<const Index> ScoredAttention::reachable(const AttentionMemory& memory) const {
  const Index reach = score_->reach();
  if (memory.values.shape()[1] <= reach) return memory.lengths;
  Index* lengths = memory.values.tape().arena().array_of<Index>(std::ssize(memory.lengths));
  std::transform(memory.lengths.begin(), memory.lengths.end(), lengths, [=](Index length) {
    return std::min(length, reach);
  });
  return {lengths, memory.lengths.size()};
}

}  // namespace softalign
