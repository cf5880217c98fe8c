// Beam search over a batch of sentences. A finished hypothesis leaves the beam and narrows it (as
// in GroundHog); a sentence whose beam is empty leaves the batch. Ties go to the earlier
// hypothesis, then to the lower symbol. Hypotheses do not depend on what else is in the batch, and
// once the tape has its memory, a step allocates none.
#pragma once

#include "framework/eval/search.hpp"

namespace softalign {

struct BeamSettings {
  Index width = 5;
  double length_normalization = 1;  // score = log probability / steps^this
  double max_ratio = 2;             // at most max_ratio * source length + max_extra steps
  Index max_extra = 10;
};

std::vector<std::vector<Hypothesis>> beam_search(const Model& model,
                                                 Tape& tape,
                                                 const SourceBatch& source,
                                                 const BeamSettings& settings);

}  // namespace softalign
