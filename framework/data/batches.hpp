// Batches: the plan of an epoch, the division of a batch into parts, the arrays that the model reads, and
// sentences that are segmented anew in every epoch. All are pure functions: no state is passed from one epoch to
// the next, so a run can be resumed at any (epoch, position).
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

// The batches of a split as example indices, stored in two arrays. A batch is sorted, longest sentences first.
class Batches {
 public:
  Batches() = default;
  // ends: for each batch, the offset in `examples` just after its last example.
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

// Returns the largest number of pairs in a batch whose longest sentence has `longest` positions, </s> included.
Index most_pairs(const BatchOptions& options, Index longest);

// Returns the number of examples in an epoch. A portion of n examples with weight w contributes n w, rounded to
// an integer.
Index examples_per_epoch(const Split& split);

// Returns the batches of an epoch in training order. Each example is in one batch. With weights, it is
// in as many batches as the integer part of its portion's weight, and a fraction of the portion, drawn
// anew for each epoch, is in one more: with weight 0.5, half of the examples. The examples are
// permuted; each pool of `pool` batches is sorted by source + target length and cut (Bahdanau et al.
// 2015, appendix B.2: 1,600 pairs into 20 batches), and its batches are permuted. With `tokens`, a pool holds
// enough examples for about `pool` batches.
Batches epoch_batches(const Split& split,
                      const BatchOptions& options,
                      std::uint64_t seed,
                      Index epoch);

// Returns the peak memory of epoch_batches in bytes, including the plan: 8 bytes per example of the epoch, plus a
// constant. drawn: the number of examples in an epoch with weights, which needs more; 0: no weights.
double bytes_of_plan(Index examples, Index drawn, const BatchOptions& options);

// Returns all examples in batches of `sentences`, longest first (by source, then target, then index).
Batches evaluation_batches(const Split& split, Index sentences);

// Divides a batch into at most `parts` contiguous, non-empty parts with about equally many symbols, so that
// threads take about equally long. Parts are contiguous because a batch is sorted: neighbours have similar
// lengths, so a part contains little padding.
Batches cut_into_parts(const Split& split, std::span<const Index> batch, Index parts);

// A batch holds sentence pairs as padded rows in plain arrays (no tensors), as the model reads them. The order of
// the rows is part of the contract.
//
//   B rows, S source steps, T target steps, F numbers per frame; [B,S] is row-major: source[b * S + s].

// The source side of a batch, as a search reads it.
struct SourceBatch {
  std::span<const Token> tokens;  // [B,S]; empty where sources are frames
  Index sentences = 0;
  Index positions = 0;
  std::span<const Index> lengths;                 // [B], non-increasing; with </s> for symbols
  std::span<const std::vector<Link>> links = {};  // [B], or empty if not requested
  std::span<const Index> examples = {};           // [B], index in the split; empty: 0, 1, ...
  std::span<const float> frames = {};             // [B,S,F]
  // [B,S], or empty if the model copies nothing: the target symbol for a copy of each source token, and the words
  // that the target vocabulary lacks (Copies).
  std::span<const Token> copies = {};
  std::span<const std::string_view> words = {};

  Index example(Index row) const { return examples.empty() ? row : examples[usize(row)]; }
};

// Rows are sorted by decreasing source length, ties by example. So the rows that are active at a step are
// always the first ones, which the recurrent kernels rely on.
struct Batch {
  Index rows = 0;
  Index source_steps = 0;
  Index target_steps = 0;
  std::vector<Token> source;     // [B,S], each row ends with </s>; empty where sources are frames
  std::vector<float> frames;     // [B,S,F]; 0 after a row's end
  std::vector<Token> target_in;  // [B,T], each row begins with <s>
  // [B,T], each row ends with </s>. If the model copies, a source word that the target vocabulary lacks is
  // V + s (Copies).
  std::vector<Token> target_out;
  std::vector<Index> source_lengths;     // [B], with </s> for symbols
  std::vector<Index> target_lengths;     // [B], with </s>
  std::vector<Index> example;            // [B], index in the split
  std::vector<std::vector<Link>> links;  // [B], or empty if not requested
  std::vector<Token> copies;             // [B,S], or empty if not requested
  std::vector<std::string_view> words;   // like `copies`; views of the split's texts

  SourceBatch source_side() const {
    return {source, rows, source_steps, source_lengths, links, example, frames, copies, words};
  }
  // Returns row b of target_out without </s>.
  std::span<const Token> target(Index b) const {
    return std::span(target_out)
        .subspan(usize(b * target_steps), usize(target_lengths[usize(b)]) - 1);
  }
};

// Returns the examples in the order of a batch's rows.
std::vector<Index> batch_order(const Split& split, std::span<const Index> examples);

// The optional arrays of a batch, which only some models read.
struct BatchParts {
  bool links = false;
  const Copies* copies = nullptr;  // null: nothing is copied
};

// Returns the batch of these examples. Padding is kEnd, a legal token whose value must not affect any result.
// Without examples, the batch has 0 rows and 0 steps.
Batch make_batch(const Split& split, std::span<const Index> examples, const BatchParts& parts = {});

// Returns the training split, in memory and without texts and links, segmented for this epoch with the dataset's
// dropout (BPE-dropout, Provilkov et al. 2020). Dropout yields more pieces, so sentences may become longer than
// the longest one before. Portions of weight 0 are not changed. The result depends on (dataset, seed, epoch)
// only. Calls `stop` regularly, and throws Interrupted if it returns true.
Split resegmented(const Dataset& data,
                  std::uint64_t seed,
                  Index epoch,
                  Workers& workers,
                  const std::function<bool()>& stop = {});

}  // namespace softalign
