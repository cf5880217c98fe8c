// Beam search over a batch of sentences. A finished hypothesis leaves the beam and narrows it (as
// in GroundHog); a sentence whose beam is empty leaves the batch. Ties go to the earlier
// hypothesis, then to the lower symbol. Hypotheses do not depend on the rest of the batch. Once the
// tape has enough memory, steps allocate none.
#pragma once

#include <span>
#include <vector>

#include "framework/eval/search.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

// The divisor of a log probability, as a function of its hypothesis' steps:
enum class LengthPenalty {
  average,  // steps^a
  gnmt      // ((5 + steps) / 6)^a (Wu et al. 2016, equation 14)
};

struct BeamSettings {
  Index width = 5;
  double length_normalization = 1;  // a; 0: hypotheses are ranked by their log probability
  LengthLimits limits = {};
  LengthPenalty length_penalty = LengthPenalty::average;
  double coverage_penalty = 0;  // beta, the factor of coverage(); 0: no penalty
};

// Returns the sum over source positions of log(min(1, the position's weights summed over all steps)) (Wu et al. 2016,
// equation 14, without the factor beta). alignment: [steps, positions]. In the paper, a position without weight makes
// the sum minus infinity; here it counts as 1e-9.
double coverage(std::span<const float> alignment, Index positions);

// Returns the finished hypotheses of each sentence, best first. Throws SpecError for a coverage penalty without
// attention. If phrases are demanded, the beam is divided by how much of them hypotheses contain (phrases.hpp).
std::vector<std::vector<Hypothesis>> beam_search(const Scorer& scorer,
                                                 Tape& tape,
                                                 const SourceBatch& source,
                                                 const BeamSettings& settings,
                                                 const Demands& demands = {});

struct BeamSymbol;  // left_to_right.hpp

struct LiveHypothesis {
  Index sentence;
  Index from;  // the row of the last step's arrays that it continues
  double log_probability;
  const BeamSymbol* last;  // null: no symbols yet
  Index number = 0;        // among the first hypotheses of its sentence
  Index row = -1;          // in the next step's arrays
};

// The arrays of a search, with a row of every model's memory and state for each live hypothesis. They are
// allocated before the steps, memory on the tape and state on its second tape, so that the arrays of a step can
// be dropped. This class does not rank hypotheses.
class BeamRows {
 public:
  // whole: each model's source, with one row per sentence, on this tape. At most `capacity` hypotheses are alive
  // at the same time.
  BeamRows(Tape& tape, std::vector<Model::Source> whole, Index capacity);

  // Assigns each hypothesis one of the first live.size() rows, and copies the memory of its sentence and the
  // state of row `from` into it. Hypotheses of one sentence must be adjacent. A row stays with its sentence if
  // possible, so that memory is copied for the other rows only. All but the first dimension of a state's
  // array may change from step to step, as a cache of keys [B,t,D] grows.
  void place(std::span<LiveHypothesis> live, std::span<const State> states);

  // Returns the sources that the models read at the next step.
  std::span<const Model::Source> sources();

 private:
  struct Buffer {
    View rows;       // [capacity, ...]
    Index room = 0;  // capacity in numbers
  };
  struct Arrays {                      // of one model
    View keys, values;                 // [capacity, ...]; empty if the memory has none
    Index* lengths;                    // [capacity] length of the row's sentence
    std::vector<Buffer> state, spare;  // spare: the next state is assembled here
    Index step = 0;                    // State::step
  };
  Arrays arrays_of(const Model::Source& whole) const;
  View rows_like(Var array) const;
  void shape_like(View array, Buffer& buffer) const;
  void assign_rows(std::span<LiveHypothesis> live);
  void copy_memory(Index sentence, Index row);
  Var first_rows(View array) const;

  Tape& tape_;
  Index capacity_;
  std::vector<Model::Source> whole_, now_;  // of each model
  std::vector<Arrays> arrays_;              // of each model
  Index* held_;     // [capacity] the sentence whose memory a row holds; -1: free
  Index* waiting_;  // [sentences] the first hypothesis of each that has no row yet
  Index count_ = 0;
};

}  // namespace softalign
