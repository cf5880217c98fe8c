// The configurations that are timed, and full batches for them: random symbols, no padding.
#pragma once

#include <string>
#include <vector>

#include "framework/data/batches.hpp"
#include "framework/seq/model.hpp"

namespace softalign::bench {

struct Workload {
  std::string name;
  Index embedding = 0, units = 0, vocabulary = 0, sentences = 0;
  Index source = 0, target = 0;  // steps, with </s>

  // Of a spec; if empty: BiGRU encoder, additive attention, attentional GRU decoder, maxout readout.
  std::string other_model = "";

  ModelOptions model(bool attention = true) const;  // without: vanilla, of GRUs
  Index target_tokens() const { return sentences * target; }
  // One batch in so many parts.
  std::vector<Batch> batch(Index parts) const;
};

// "small", "medium", "long", "paper", "luong" (LSTMs with input feeding), "transformer", and "tiny" for a quick look. Throws SpecError.
Workload workload(const std::string& name);

}  // namespace softalign::bench
