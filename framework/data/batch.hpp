// A batch: sentence pairs side by side, as the model reads them. Row order is part of the contract;
// no tensors.
//
//   B rows, S source steps, T target steps, F numbers a frame; [B,S] is row-major: source[b * S + s].
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// The source side alone, as a search reads it.
struct SourceBatch {
  std::span<const Token> tokens;  // [B,S]; empty where sources are frames
  Index sentences = 0;
  Index positions = 0;
  std::span<const Index> lengths;                 // [B], with </s> of symbols, not increasing
  std::span<const std::vector<Link>> links = {};  // [B] or empty: not asked for
  std::span<const Index> examples = {};           // [B], index in the split; empty: 0, 1, ...
  std::span<const float> frames = {};             // [B,S,F]

  Index example(Index row) const { return examples.empty() ? row : examples[usize(row)]; }
};

// Rows are sorted by falling source length, ties by example: at each step the rows still running
// are the first ones, which the recurrent kernels rely on.
struct Batch {
  Index rows = 0;
  Index source_steps = 0;
  Index target_steps = 0;
  std::vector<Token> source;      // [B,S], each row ends with </s>; empty where sources are frames
  std::vector<float> frames;      // [B,S,F]; 0 behind a row's end
  std::vector<Token> target_in;   // [B,T], each row begins with <s>
  std::vector<Token> target_out;  // [B,T], each row ends with </s>
  std::vector<Index> source_lengths;     // [B], with </s> of symbols
  std::vector<Index> target_lengths;     // [B], with </s>
  std::vector<Index> example;            // [B], index in the split
  std::vector<std::vector<Link>> links;  // [B] or empty: not asked for

  SourceBatch source_side() const {
    return {source, rows, source_steps, source_lengths, links, example, frames};
  }
};

// Examples in the order of a batch's rows.
std::vector<Index> batch_order(const Split& split, std::span<const Index> examples);

// What stands behind a row's end is kEnd: a legal token that nothing may depend on. An empty list
// gives a batch of 0 rows and 0 steps.
Batch make_batch(const Split& split, std::span<const Index> examples, bool links = false);

}  // namespace softalign
