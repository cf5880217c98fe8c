// The arrays of a search: for each live hypothesis a row of every model's memory and state. They lie
// below the steps, memory on the tape and state on its second tape, so that a step's own arrays can
// be dropped. Nothing here ranks hypotheses.
#pragma once

#include <span>
#include <vector>

#include "framework/seq/model.hpp"

namespace softalign {

struct BeamSymbol;  // left_to_right.hpp

struct LiveHypothesis {
  Index sentence;
  Index from;  // the row of the last step's arrays that it continues
  double log_probability;
  const BeamSymbol* last;  // null: nothing yet
  Index number = 0;        // of those that its sentence began with
  Index row = -1;          // in the next step's arrays
};

class BeamRows {
 public:
  // whole: of each model, a row for each sentence, on this tape. At most `capacity` hypotheses live at
  // once.
  BeamRows(Tape& tape, std::vector<Model::Source> whole, Index capacity);

  // Gives each hypothesis one of the first live.size() rows and fills it: the memory of its
  // sentence, the state of `from`. Those of one sentence stand side by side. A row stays with its
  // sentence where it can: memory is copied for the others only. All but the first dimension of a
  // state's array may change from step to step, as a cache of keys [B,t,D] grows.
  void place(std::span<LiveHypothesis> live, std::span<const State> states);

  // What the models read at the next step.
  std::span<const Model::Source> sources();

 private:
  struct Buffer {
    View rows;       // [capacity, ...]
    Index room = 0;  // numbers it can hold
  };
  struct Arrays {                      // of one model
    View keys, values;                 // [capacity, ...]; empty: the memory has none
    Index* lengths;                    // [capacity] of the sentence of a row
    std::vector<Buffer> state, spare;  // spare: where the next one is put together
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
  Index* waiting_;  // [sentences] its first hypothesis that has no row yet
  Index count_ = 0;
};

}  // namespace softalign
