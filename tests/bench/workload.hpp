// The four configurations that are timed, and full batches for them: random symbols, no padding.
#pragma once

#include <string>
#include <vector>

#include "framework/data/batch.hpp"
#include "framework/seq/model.hpp"

namespace softalign::bench {

struct Workload {
  std::string name;
  Index embedding = 0, units = 0, vocabulary = 0, sentences = 0;
  Index source = 0, target = 0;  // steps, with </s>

  Index target_tokens() const { return sentences * target; }
  // BiGRU encoder, additive attention (none: vanilla), attentional GRU decoder, maxout readout.
  ModelOptions model(bool attention = true) const;
  // One batch in so many parts.
  std::vector<Batch> batch(Index parts) const;
};

// "small", "medium", "long", "paper", and "tiny" for a quick look. Throws SpecError.
Workload workload(const std::string& name);

}  // namespace softalign::bench
