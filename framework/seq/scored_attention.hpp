// What attentions with a score have in common: memory, energies with rematerialisation, the sum of
// earlier weights for scores that read it, and the context. One of them says how energies become
// weights:
//
//   class Global final : public ScoredAttention {
//     Alignment align(const AttentionMemory& memory, Var energies, const AttentionQuery&) const override {
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
  static Choice score_choice(const char* type = "additive") {
    return {.kind = "score", .type = type};
  }
  // What all of them can be asked for. A plugin with options of its own inherits these.
  struct Options {
    Choice score = score_choice();
    template <class V>
    void describe(V& v) {
      v("score", score, "score function e_ij = score(state, annotation)");
    }
  };

  ScoredAttention(const Parameters& p, AttentionSizes sizes, const Options& options);
  AttentionMemory prepare(const Annotations& annotations) const final;
  State start(const AttentionMemory& memory) const final;
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const final;
  Index context_size() const final { return annotation_; }
  bool aligns() const final { return true; }
  bool weights_can_change() const final { return true; }

 protected:
  struct Alignment {
    Var weights;        // [B,S], of the glimpse
    State next = {};    // the attention's own arrays before the next step
    Var averaged = {};  // [B,S], what the context is averaged with; empty: the weights
  };
  // Sets begins and lengths of the positions that may have a weight, so that others get no energy.
  virtual void narrow(AttentionMemory&, const AttentionQuery&) const {}
  // memory.lengths end where the score does, or as narrowed; query.past holds the attention's own arrays.
  virtual Alignment align(const AttentionMemory& memory,
                          Var energies,
                          const AttentionQuery& query) const = 0;
  virtual State own_start(const AttentionMemory&) const { return {}; }

 private:
  Var energies(const AttentionMemory& memory, const AttentionQuery& query) const;
  std::span<const Index> reachable(const AttentionMemory& memory) const;

  Index annotation_;
  std::unique_ptr<Score> score_;
};

}  // namespace softalign
