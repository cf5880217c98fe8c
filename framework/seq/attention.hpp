// The contract of an attention, which computes weights and a context at each step; and ScoredAttention, the
// base of all attentions with a score.
#pragma once

#include <array>
#include <memory>

#include "framework/data/batches.hpp"
#include "framework/ops/ops.hpp"
#include "framework/seq/encoder.hpp"
#include "framework/seq/inspection.hpp"
#include "framework/seq/score.hpp"

namespace softalign {

// The memory of an attention: its score's memory, and data about the sentences, filled in by the
// framework.
struct AttentionMemory : Memory {
  AttentionMemory(const Memory& memory = {}) : Memory(memory) {}

  // The sentences, with gold links between annotations and target symbols if Attention::reads_links(). A row is a
  // sentence, or in a search a hypothesis for sentence rows[row].
  SourceBatch source = {};
  std::span<const Index> rows = {};
  Var states = {};  // [B,S,D], Annotations::states; only before the first step
  // Receives the weights of single heads, and may replace weights, see weights_can_change().
  Inspection inspection = {};

  Index sentence(Index row) const { return rows.empty() ? row : rows[usize(row)]; }
  std::span<const Link> links_of(Index row) const { return source.links[usize(sentence(row))]; }
  std::span<const Token> symbols_of(Index row) const {
    return source.tokens.subspan(usize(sentence(row) * source.positions), usize(source.positions));
  }
};

struct AttentionQuery : Query {
  State past = {};  // the attention's own arrays (Attention::start, Glimpse::next)
};

struct Glimpse {
  Var context;      // [B,C]
  Var weights;      // [B,S], 0 at padding, rows sum to 1 if weights_sum_to_one(); empty when the
                    // attention does not align
  State next = {};  // the attention's own arrays before the next step
};

struct AttentionSizes {
  Index query;       // Q
  Index annotation;  // D
};

// The data of a training step that is known after all decoder steps of a part of a batch.
struct TaughtSteps {
  Tape& tape;
  std::span<const Var> weights;           // T times [B,S], Glimpse::weights
  std::span<const real> nll;              // [T,B], 0 after a target's end
  std::span<const Index> target_lengths;  // [B], with </s>
  real factor;                            // the model's loss = factor * sum of nll
};
using Totals = std::array<double, 2>;
struct ExtraLoss {
  Var loss = {};                        // [B], added to the model's loss; empty: 0
  std::span<const Totals> totals = {};  // [B] or empty; summed over the batch for after_update
};

class Attention {
 public:
  virtual ~Attention() = default;
  virtual AttentionMemory prepare(const Annotations& annotations) const = 0;
  // Returns the initial arrays that the attention carries from step to step; none by default.
  virtual State start(const AttentionMemory&) const { return {}; }
  virtual Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const = 0;
  virtual Index context_size() const = 0;  // C
  virtual bool aligns() const = 0;         // true: a glimpse has weights
  virtual bool reads_links() const { return false; }
  virtual bool weights_sum_to_one() const { return true; }  // false: rows may have any sum
  // false: a loss on the weights has no effect.
  virtual bool weights_are_learned() const { return true; }
  // Returns whether contexts average annotations with weights that Inspection::change may replace.
  virtual bool weights_can_change() const { return false; }
  // Returns a loss in addition to the gradient through the context (plugins/attentions/hard.cpp).
  virtual ExtraLoss extra_loss(const TaughtSteps&) const { return {}; }
  // Called after each update, with the totals of the whole batch: for learned state that is not a
  // parameter (Parameters::add_state).
  virtual void after_update(const Totals&) {}
  // True for the plugin that represents a decoder's own attention: prepare, attend and context_size
  // throw SpecError.
  virtual bool built_in() const { return false; }
};

struct AttentionKind {
  static constexpr const char* name = "attention";
  using Make = std::unique_ptr<Attention>(const Parameters&, AttentionSizes);
};

// The base of attentions with a score: memory, energies with rematerialisation, the sum of
// earlier weights for scores that read it, and the context. A subclass defines how energies become
// weights:
//
//   class Global final : public ScoredAttention {
//     Alignment align(const AttentionMemory& memory, Var energies, const AttentionQuery&) const override {
//       return {softmax_prefix(energies, memory.lengths)};
//     }
//   };
class ScoredAttention : public Attention {
 public:
  static Choice score_choice(const char* type = "additive") {
    return {.kind = "score", .type = type};
  }
  // The options of every attention with a score. A plugin with more options inherits these.
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
    Var weights;        // [B,S], Glimpse::weights
    State next = {};    // the attention's own arrays before the next step
    Var averaged = {};  // [B,S], the weights of the context; empty: `weights`
  };
  // Restricts begins and lengths to the positions that may have a weight; no other energies are computed.
  virtual void narrow(AttentionMemory&, const AttentionQuery&) const {}
  // memory.lengths are limited by Score::reach() and narrow(); query.past begins with the attention's own arrays.
  virtual Alignment align(const AttentionMemory& memory,
                          Var energies,
                          const AttentionQuery& query) const = 0;
  virtual State own_start(const AttentionMemory&) const { return {}; }
  // Returns a score's energies [B,S]; backward recomputes them if the score leaves large arrays on the tape.
  static Var energies(const Score& score, const Memory& memory, const Query& query);

 private:
  std::span<const Index> reachable(const AttentionMemory& memory) const;

  Index annotation_;
  std::unique_ptr<Score> score_;
};

}  // namespace softalign

#define SOFTALIGN_ATTENTION(name, Class, summary) \
  SOFTALIGN_PLUGIN(AttentionKind, name, Class, summary)
