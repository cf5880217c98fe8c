// The configurations to be timed, and full batches for them: random symbols, no padding.
#pragma once

#include <string>
#include <vector>

#include "framework/data/batches.hpp"
#include "framework/seq/model.hpp"

namespace softalign::bench {

struct Workload {
  std::string name;
  Index embedding = 0, units = 0, vocabulary = 0, sentences = 0;
  Index source = 0, target = 0;  // steps, including </s>

  // The model as YAML of a spec; if empty: BiGRU encoder, additive attention, attentional GRU decoder, maxout readout.
  std::string other_model = "";

  ModelOptions model(bool attention = true) const;  // without attention: vanilla seq2seq of GRUs
  Index target_tokens() const { return sentences * target; }
  // One batch, divided into `parts` parts.
  std::vector<Batch> batch(Index parts) const;
};

// Returns a configuration by name: "small", "medium", "long", "paper", "luong" (LSTMs with input feeding),
// "transformer", or "tiny" for a quick check. Throws SpecError if the name is unknown.
Workload workload(const std::string& name);

}  // namespace softalign::bench
