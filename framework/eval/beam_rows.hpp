// The arrays of a beam search: a row of memory and state for each live hypothesis. They lie below the
// steps, memory on the tape and state on its second tape, so that a step's own arrays can be dropped.
// Nothing here ranks hypotheses.
#pragma once

#include <span>
#include <vector>

#include "framework/seq/model.hpp"

namespace softalign {

struct BeamSymbol;  // beam.cpp

struct LiveHypothesis {
  Index sentence;
  Index from;  // the row of the last step's arrays that it continues
  double log_probability;
  const BeamSymbol* last;  // null: nothing yet
  Index row = -1;          // in the next step's arrays
};

class BeamRows {
 public:
  // whole: a row for each sentence, on this tape. At most `capacity` hypotheses live at once.
  BeamRows(Tape& tape, const Model::Source& whole, Index capacity);

  // Gives each hypothesis one of the first live.size() rows and fills it: the memory of its
  // sentence, the state of `from`. Those of one sentence stand side by side. A row stays with its
  // sentence where it can: memory is copied for the others only. All but the first dimension of a
  // state's array may change from step to step, as a cache of keys [B,t,D] grows.
  void place(std::span<LiveHypothesis> live, const State& state);

  // What the model reads at the next step.
  Model::Source source() const;

 private:
  struct Buffer {
    View rows;       // [capacity, ...]
    Index room = 0;  // numbers it can hold
  };
  void shape_like(View array, Buffer& buffer) const;
  Var first_rows(View array) const;

  Tape& tape_;
  Model::Source whole_;
  Index capacity_;
  View keys_, values_;                 // [capacity, ...]; values_ empty: the memory has none
  std::vector<Buffer> state_, spare_;  // spare_: where the next one is put together
  Index* lengths_;                     // [capacity] of the sentence of a row
  Index* held_;                        // [capacity] the sentence whose memory a row holds; -1: free
  Index* waiting_;                     // [sentences] its first hypothesis that has no row yet
  Index count_ = 0;
  Index step_ = 0;
};

}  // namespace softalign
