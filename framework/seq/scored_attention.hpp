// What attentions with a score have in common: memory, energies with rematerialisation, the sum of
// earlier weights for scores that read it, and the context. One of them says how energies become
// weights:
//
//   class Global final : public ScoredAttention {
//     Seen see(const Memory& memory, Var energies, const Query&) const override {
//       return {softmax_prefix(energies, memory.lengths)};
//     }
//   };
#pragma once

#include <memory>

#include "framework/ops/ops.hpp"
#include "framework/seq/attention.hpp"

namespace softalign {

class ScoredAttention : public Attention {
 public:
  // Options of a plugin begin with the score: `Choice score = additive_score();`
  static Choice score_choice(const char* type = "additive") {
    return {.kind = "score", .type = type};
  }

  ScoredAttention(const Parameters& p, AttentionSizes sizes, const Choice& score);
  Memory prepare(const Annotations& annotations) const final;
  State start(const Memory& memory) const final;
  Glimpse attend(const Memory& memory, const Query& query) const final;
  Index context_size() const final { return annotation_; }
  bool aligns() const final { return true; }

 protected:
  struct Seen {
    Var weights;        // [B,S], of the glimpse
    State next = {};    // the attention's own arrays before the next step
    Var averaged = {};  // [B,S], what the context is averaged with; empty: the weights
  };
  // memory.lengths end where the score does; query.past holds the attention's own arrays.
  virtual Seen see(const Memory& memory, Var energies, const Query& query) const = 0;
  virtual State own_start(const Memory&) const { return {}; }

 private:
  Var energies(const Memory& memory, const Query& query) const;
  std::span<const Index> reachable(const Memory& memory) const;

  Index annotation_;
  std::unique_ptr<Score> score_;
};

}  // namespace softalign
