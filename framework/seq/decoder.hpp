// The contract of a decoder: a state, one step from symbol to symbol, and a readout. Training and
// search drive the same step.
#pragma once

#include <functional>
#include <memory>

#include "framework/ops/ops.hpp"
#include "framework/seq/attention.hpp"

namespace softalign {

inline Var side_by_side(const State& arrays) {  // [B, sum of their sizes]
  Var all = arrays[0];
  for (std::size_t k = 1; k < arrays.size(); ++k) all = concat_last(all, arrays[k]);
  return all;
}

struct DecoderStep {
  State next;
  State output;  // arrays [B,O_k] of this step, which the readout reads concatenated
  Var weights;   // [B,S] or empty
};

// All steps of teacher forcing.
struct Unrolled {
  Var outputs;                   // [T,B, sum of O_k]
  std::span<const Var> weights;  // T times [B,S]; empty when the decoder does not align
};

// Collects the outputs of single steps into [T,B,...].
class StepByStep {
 public:
  StepByStep(Tape& tape, Index steps);
  void push(const DecoderStep& step);
  Unrolled all() const;  // once all `steps` have been pushed

 private:
  Tape& tape_;
  Index steps_, parts_ = 0, done_ = 0;
  Var* outputs_ = nullptr;  // [steps, parts]
  Var* weights_;            // [steps]
};

struct DecoderSizes {
  Index embedding;            // E
  Index annotation;           // D
  Index start;                // D'
  std::vector<Index> finals;  // Annotations::finals
  // Builds the attention once the decoder knows the size of its queries.
  std::function<std::unique_ptr<Attention>(const Parameters&, Index query)> attention;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual AttentionMemory prepare(const Annotations& annotations) const = 0;
  // The decoder's arrays, then those of its attention.
  virtual State start(const Annotations& annotations, const AttentionMemory& memory) const = 0;
  // Returns the inputs of steps, from the previous symbols: [..., E] -> [..., I]; in training for all steps at once.
  virtual Var inputs(Var embedded) const = 0;
  // input [B,I] belongs to the step, which may overwrite it: std::move(input).
  virtual DecoderStep step(const AttentionMemory& memory, const State& state, Var input) const = 0;
  // Computes all steps from inputs [T,B,I], which it overwrites; step by step unless a decoder overrides it.
  virtual Unrolled unroll(const AttentionMemory& memory, State state, Var&& inputs) const;
  // false: training must process all steps at once, so a step cannot read the symbol that the previous
  // one has predicted.
  virtual bool steps() const { return true; }
  // true: target positions attend to each other, and Inspection::own_heads receives their weights.
  virtual bool attends() const { return false; }
  // [..., sum of O_k], [..., E] -> [..., R]: the layer before the projection to the vocabulary.
  virtual Var readout(Var outputs, Var embedded) const = 0;
  virtual Index readout_size() const = 0;  // R
  // Sum of O_k, for output layers that read the outputs of a step; 0: not available to them.
  virtual Index output_size() const { return 0; }
  virtual bool aligns() const = 0;
  virtual bool reads_links() const { return false; }
};

struct DecoderKind {
  static constexpr const char* name = "decoder";
  using Make = std::unique_ptr<Decoder>(const Parameters&, const DecoderSizes&);
};

}  // namespace softalign

#define SOFTALIGN_DECODER(name, Class, summary) SOFTALIGN_PLUGIN(DecoderKind, name, Class, summary)
