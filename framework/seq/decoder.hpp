// The contract of a decoder: a state, one step from symbol to symbol, and a readout. Training and
// search drive the same step.
#pragma once

#include <array>
#include <functional>
#include <memory>

#include "framework/base/error.hpp"
#include "framework/ops/ops.hpp"
#include "framework/seq/attention.hpp"

namespace softalign {

// A few arrays whose rows are sentences (or hypotheses): a decoder's state. No malloc.
class State {
 public:
  State(std::initializer_list<Var> vars) {
    for (Var var : vars) push(var);
  }
  State() = default;
  void push(Var var) {
    if (size_ == vars_.size()) throw BugError("[state] more than {} arrays", vars_.size());
    vars_[size_++] = var;
  }
  std::size_t size() const { return size_; }
  const Var* begin() const { return vars_.data(); }
  const Var* end() const { return vars_.data() + size_; }
  Var operator[](std::size_t i) const { return vars_[i]; }
  Var& operator[](std::size_t i) { return vars_[i]; }

 private:
  std::array<Var, 8> vars_{};
  std::size_t size_ = 0;
};

inline Var side_by_side(const State& arrays) {  // [B, sum of their sizes]
  Var all = arrays[0];
  for (std::size_t k = 1; k < arrays.size(); ++k) all = concat_last(all, arrays[k]);
  return all;
}

struct DecoderStep {
  State next;
  State output;  // arrays [B,O_k], side by side what the readout needs of this step
  Var weights;   // [B,S] or empty
};

struct DecoderSizes {
  Index embedding;   // E
  Index annotation;  // D
  Index start;       // D'
  // Builds the attention once the decoder knows the size of its queries.
  std::function<std::unique_ptr<Attention>(const Parameters&, Index query)> attention;
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual Memory prepare(const Annotations& annotations) const = 0;
  virtual State start(const Annotations& annotations) const = 0;
  // What steps read of the previous symbols: [..., E] -> [..., I], for all steps at once in
  // training.
  virtual Var inputs(Var embedded) const = 0;
  // input [B,I] belongs to the step, which may overwrite it: std::move(input).
  virtual DecoderStep step(const Memory& memory, const State& state, Var input) const = 0;
  // [..., sum of O_k], [..., E] -> [..., R]: the layer before the projection to the vocabulary.
  virtual Var readout(Var outputs, Var embedded) const = 0;
  virtual Index readout_size() const = 0;  // R
  virtual bool aligns() const = 0;
};

struct DecoderKind {
  static constexpr const char* name = "decoder";
  using Make = std::unique_ptr<Decoder>(const Parameters&, const DecoderSizes&);
};

}  // namespace softalign

#define SOFTALIGN_DECODER(name, Class, summary) SOFTALIGN_PLUGIN(DecoderKind, name, Class, summary)
