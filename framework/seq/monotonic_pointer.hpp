// The pointer of monotonic attentions (Raffel et al. 2017), which only moves right: from its last position it
// stops at position j with probability p_ij = sigmoid(e_ij + r).
#pragma once

#include <string>

#include "framework/seq/attention.hpp"

namespace softalign {

class MonotonicPointer {
 public:
  struct Options {  // written next to the attention's own
    double offset = -1;
    double noise = 1;
    std::string test = "hard";
    template <class V>
    void describe(V& v) {
      v("offset", offset, "initial value of the learned r; lower: the pointer initially moves far");
      v("noise", noise, "standard deviation of the noise on energies in training", at_least(0));
      v("test", test, "how it attends when not training", one_of("hard", "soft"));
    }
  };

  MonotonicPointer(const Parameters& p, const Options& options);

  Var start(const AttentionMemory& memory) const;  // [B,S]: 1 at the first position
  // Returns the probabilities [B,S] of the position where the pointer stops: expected ones, in training with
  // noise on the energies; but 1 at the first j with p_ij > 1/2 when not training, if `test` is hard. They sum
  // to less than 1 if the pointer may move beyond the end.
  Var move(Var energies, Var from, std::span<const Index> lengths, Index step) const;

 private:
  View draw(Tape& tape, const Shape& shape, Index step) const;

  Parameter* offset_;
  double noise_;
  bool hard_;
  RandomStream stream_;
};

}  // namespace softalign
