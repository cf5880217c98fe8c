// Batches: which sentences of an epoch train together (the plan of an epoch, and the cut of a batch into
// parts), side by side as the model reads them; and sentences cut into other pieces in every epoch. All are
// pure functions; nothing is remembered from one epoch to the next, so a resumed run continues at any (epoch,
// position).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/options.hpp"
#include "framework/data/dataset.hpp"

namespace softalign {

// Examples of a split by index, batch by batch, in two arrays. A batch is sorted, longest sentences first.
class Batches {
 public:
  Batches() = default;
  // ends: of each batch, among the examples.
  Batches(std::vector<Index> examples, std::vector<Index> ends)
      : examples_(std::move(examples)), ends_(std::move(ends)) {}
  void append(std::span<const Index> batch);

  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::span<const Index> operator[](std::size_t k) const;
  std::span<const Index> examples() const { return examples_; }  // of all batches

  class Iterator {
   public:
    Iterator(const Batches* batches, std::size_t k) : batches_(batches), k_(k) {}
    std::span<const Index> operator*() const { return (*batches_)[k_]; }
    Iterator& operator++() {
      ++k_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Batches* batches_;
    std::size_t k_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  bool operator==(const Batches&) const = default;

 private:
  std::vector<Index> examples_, ends_;
};

struct BatchOptions {
  Index sentences = 64;
  std::optional<Index> tokens;
  Index pool = 20;

  template <class V>
  void describe(V& v) {
    v("sentences", sentences, "sentence pairs in a batch", between(1, kLargestBatch));
    v("tokens",
      tokens,
      "instead of `sentences`: largest number of positions in a batch, pairs x the longest "
      "sentence of either side with </s>; null: `sentences` applies",
      between(1, kMostTokens));
    v.inactive("sentences", tokens.has_value(), "batch.tokens sets the size");
    v("pool",
      pool,
      "number of batches that are drawn together and sorted by length (1: no sorting across "
      "batches)",
      between(1, kLargestBatch));
  }
};

// The most pairs in a batch of which the longest sentence has `longest` positions, </s> included.
Index most_pairs(const BatchOptions& options, Index longest);

// The number of examples of an epoch: for a portion of n examples with weight w, n w rounded to an
// integer.
Index examples_per_epoch(const Split& split);

// The batches of an epoch in the order of training. Each example is in one batch. With weights, it is
// in as many batches as the integer part of its portion's weight, and a share of the portion, drawn
// anew for each epoch, is in one more: with weight 0.5, half of the examples. The examples are
// permuted; each pool of `pool` batches is sorted by source + target length and cut (Bahdanau et al.
// 2015, appendix B.2: 1,600 pairs into 20 batches), and its batches are permuted. With `tokens`, a pool fills
// about `pool` batches.
Batches epoch_batches(const Split& split,
                      const BatchOptions& options,
                      std::uint64_t seed,
                      Index epoch);

// The most memory that epoch_batches takes, the plan included: 8 bytes for each example of the epoch, and a
// constant. drawn: examples of an epoch with weights, which take more; 0: no weights.
double bytes_of_plan(Index examples, Index drawn, const BatchOptions& options);

// All examples, longest first (by source, then target, then index), `sentences` at a time.
Batches evaluation_batches(const Split& split, Index sentences);

// Cuts a batch into neighbouring parts, at most `parts`, none of them empty, of about as many symbols each: what
// a thread computes is about as long as any other's. Neighbours, because they are alike: with sorted batches
// little of a part is padding.
Batches cut_into_parts(const Split& split, std::span<const Index> batch, Index parts);

// A batch: sentence pairs side by side, as the model reads them. Row order is part of the contract;
// no tensors.
//
//   B rows, S source steps, T target steps, F numbers a frame; [B,S] is row-major: source[b * S + s].

// The source side alone, as a search reads it.
struct SourceBatch {
  std::span<const Token> tokens;  // [B,S]; empty where sources are frames
  Index sentences = 0;
  Index positions = 0;
  std::span<const Index> lengths;                 // [B], with </s> of symbols, not increasing
  std::span<const std::vector<Link>> links = {};  // [B] or empty: not asked for
  std::span<const Index> examples = {};           // [B], index in the split; empty: 0, 1, ...
  std::span<const float> frames = {};             // [B,S,F]
  // [B,S], or empty where the model copies nothing: the target symbol that a copy of each token is, and the words
  // of those that the target vocabulary lacks (Copies).
  std::span<const Token> copies = {};
  std::span<const std::string_view> words = {};

  Index example(Index row) const { return examples.empty() ? row : examples[usize(row)]; }
};

// Rows are sorted by falling source length, ties by example: at each step the rows still running
// are the first ones, which the recurrent kernels rely on.
struct Batch {
  Index rows = 0;
  Index source_steps = 0;
  Index target_steps = 0;
  std::vector<Token> source;     // [B,S], each row ends with </s>; empty where sources are frames
  std::vector<float> frames;     // [B,S,F]; 0 after a row's end
  std::vector<Token> target_in;  // [B,T], each row begins with <s>
  // [B,T], each row ends with </s>. Of a model that copies, a word of the source that the vocabulary lacks is
  // V + s (Copies).
  std::vector<Token> target_out;
  std::vector<Index> source_lengths;     // [B], with </s> of symbols
  std::vector<Index> target_lengths;     // [B], with </s>
  std::vector<Index> example;            // [B], index in the split
  std::vector<std::vector<Link>> links;  // [B] or empty: not asked for
  std::vector<Token> copies;             // [B,S] or empty: not asked for; like the words
  std::vector<std::string_view> words;   // they point into the split's texts

  SourceBatch source_side() const {
    return {source, rows, source_steps, source_lengths, links, example, frames, copies, words};
  }
  // Row b of target_out without </s>.
  std::span<const Token> target(Index b) const {
    return std::span(target_out)
        .subspan(usize(b * target_steps), usize(target_lengths[usize(b)]) - 1);
  }
};

// Examples in the order of a batch's rows.
std::vector<Index> batch_order(const Split& split, std::span<const Index> examples);

// The parts of a batch that only some models read.
struct BatchParts {
  bool links = false;
  const Copies* copies = nullptr;  // null: nothing is copied
};

// After a row's end is kEnd, a legal token that nothing may depend on. An empty list gives a batch of 0 rows
// and 0 steps.
Batch make_batch(const Split& split, std::span<const Index> examples, const BatchParts& parts = {});

// The training split, in memory, segmented differently in every epoch, as the dataset's dropout draws
// (BPE-dropout, Provilkov et al. 2020): into more pieces than without dropout, so that sentences may become
// longer than the longest was. A portion that no epoch draws from is not changed. A function of (dataset, seed,
// epoch); without texts and links. Calls stop regularly: true throws Interrupted.
Split resegmented(const Dataset& data,
                  std::uint64_t seed,
                  Index epoch,
                  Workers& workers,
                  const std::function<bool()>& stop = {});

}  // namespace softalign
