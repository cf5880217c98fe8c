#include "framework/seq/scored_attention.hpp"

#include <algorithm>

#include "framework/autodiff/rematerialize.hpp"

namespace softalign {

ScoredAttention::ScoredAttention(const Parameters& p, AttentionSizes sizes, const Choice& score)
    : annotation_(sizes.annotation),
      score_(
          make_plugin<ScoreKind>(score, p / "score", ScoreSizes{sizes.query, sizes.annotation})) {}

Memory ScoredAttention::prepare(const Annotations& annotations) const {
  Memory memory = score_->prepare(annotations.states);
  if (!memory.values) memory.values = annotations.averaged();
  memory.lengths = annotations.lengths;
  return memory;
}

// The sum of the weights so far comes behind the attention's own arrays.
State ScoredAttention::start(const Memory& memory) const {
  State state = own_start(memory);
  if (!score_->reads_attended()) return state;
  Tape& tape = memory.values.tape();
  state.push(tape.constant(tape.zeros({memory.values.shape()[0], memory.values.shape()[1]})));
  return state;
}

Glimpse ScoredAttention::attend(const Memory& whole, const Query& asked) const {
  Memory memory = whole;
  memory.lengths = reachable(whole);
  Query query = asked;
  if (score_->reads_attended()) query.attended = query.past[query.past.size() - 1];
  const Seen seen = see(memory, energies(memory, query), query);
  const Var averaged = seen.averaged ? seen.averaged : seen.weights;
  Glimpse glimpse{weighted_sum(averaged, memory.values, memory.lengths), seen.weights, seen.next};
  if (query.attended) glimpse.next.push(query.attended + averaged);
  return glimpse;
}

// A score that leaves an array of the keys' size on the tape at every step is run again in backward
// instead.
Var ScoredAttention::energies(const Memory& memory, const Query& query) const {
  const auto keep = static_cast<std::size_t>(memory.keys.value().size()) * sizeof(real) / 2 + 65536;
  return rematerialize<3>(
      memory.keys.tape(),
      {memory.keys, query.state, query.attended},
      keep,
      [this, lengths = memory.lengths, step = query.step](auto inputs) {
        return score_->score({inputs[0], {}, lengths}, {inputs[1], step, inputs[2]});
      });
}

std::span<const Index> ScoredAttention::reachable(const Memory& memory) const {
  const Index reach = score_->reach();
  if (memory.values.shape()[1] <= reach) return memory.lengths;
  Index* lengths = memory.values.tape().arena().array_of<Index>(std::ssize(memory.lengths));
  std::transform(memory.lengths.begin(), memory.lengths.end(), lengths, [=](Index length) {
    return std::min(length, reach);
  });
  return {lengths, memory.lengths.size()};
}

}  // namespace softalign
