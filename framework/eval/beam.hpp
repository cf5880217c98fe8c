// Beam search over a batch of sentences. A finished hypothesis leaves the beam and narrows it (as
// in GroundHog); a sentence whose beam is empty leaves the batch. Ties go to the earlier
// hypothesis, then to the lower symbol. Hypotheses do not depend on what else is in the batch, and
// once the tape has its memory, a step allocates none.
#pragma once

#include "framework/eval/length_limits.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

// What a log probability is divided by, for a hypothesis of so many steps:
enum class LengthPenalty {
  average,  // steps^a
  gnmt      // ((5 + steps) / 6)^a (Wu et al. 2016, equation 14)
};

struct BeamSettings {
  Index width = 5;
  double length_normalization = 1;  // a; 0: hypotheses are ranked by their log probability
  LengthLimits limits = {};
  LengthPenalty length_penalty = LengthPenalty::average;
  double coverage_penalty = 0;  // beta of coverage_penalty(); 0: none
};

// sum over source positions of log(min(1, what all steps' weights give it)) (Wu et al. 2016, equation
// 14, without its factor). alignment [steps, positions]. The paper's is minus infinity when a position
// gets nothing; here it counts as 1e-9.
double coverage(std::span<const float> alignment, Index positions);

// Throws SpecError for a coverage penalty where there is no attention.
std::vector<std::vector<Hypothesis>> beam_search(const Scorer& scorer,
                                                 Tape& tape,
                                                 const SourceBatch& source,
                                                 const BeamSettings& settings);

}  // namespace softalign
