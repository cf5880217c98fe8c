// Common code of tasks that generate their sentences, so that the true alignment is known, and a base class for
// tasks whose target is the reordered source.
#pragma once

#include <fmt/ranges.h>  // fmt::join, from version 11 on

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "framework/base/random.hpp"
#include "framework/config/options.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"

namespace softalign {

struct SyntheticOptions {
  struct Lengths {
    std::vector<Index> train = {4, 30};
    std::vector<Index> dev = {4, 30};
    std::vector<Index> test = {4, 60};
    template <class V>
    void describe(V& v) {
      const Limits limits = between(1, kLongestSentence);
      v("train", train, "shortest and longest training sentence", limits);
      v("dev", dev, "shortest and longest dev sentence", limits);
      v("test", test, "shortest and longest test sentence", limits);
      check(v, "train", train);
      check(v, "dev", dev);
      check(v, "test", test);
    }

   private:
    template <class V>
    static void check(V& v, const char* split, const std::vector<Index>& length) {
      v.check(split,
              length.size() == 2 && length[0] <= length[1],
              fmt::format("[{}] is not [shortest, longest]; give two numbers in ascending order",
                          fmt::join(length, ", ")));
    }
  };
  struct Examples {
    Index train = 20000;
    Index dev = 500;
    Index test = 1000;
    template <class V>
    void describe(V& v) {
      const Limits limits = between(1, kMostSentences);
      v("train", train, "training sentences", limits);
      v("dev", dev, "dev sentences", limits);
      v("test", test, "test sentences", limits);
    }
  };

  Index symbols = 32;
  Lengths length;
  Examples examples;
  Index data_seed = 1;  // independent of the run's seed, so that seeds vary only the training

  template <class V>
  void describe(V& v) {
    v("symbols", symbols, "different symbols, without <unk> <s> </s>", between(1, kMostSymbols));
    v("length", length, "symbols per sentence, drawn uniformly from [shortest, longest]");
    v("examples", examples, "sentences in each split");
    v("data_seed",
      data_seed,
      "seed of the sentences; does not depend on the seed of the run",
      at_least(0));
  }
};

// Fills a split with `examples` examples; draw(stream, i) appends one. Example i uses the stream's numbers at
// round i, so that it is a function of (data_seed, split, i) and does not depend on the number of examples.
using Draw = std::function<void(const RandomStream& stream, std::uint64_t i)>;
void fill_split(Split& split, const char* name, Index data_seed, Index examples, const Draw& draw);

// Returns a length drawn uniformly from [shortest, longest].
Index draw_length(const std::vector<Index>& length,
                  const RandomStream& stream,
                  std::uint64_t index,
                  std::uint64_t round);

// Returns the length statistics of the examples that fill_split draws. index: of the length in a round's numbers.
DataOutline::Lengths drawn_lengths(const char* split,
                                   Index data_seed,
                                   Index examples,
                                   const std::vector<Index>& length,
                                   std::uint64_t index = 0);

// Target position k holds the source symbol at position order(source)[k].
using Order = std::vector<Index> (*)(std::span<const Token> source);

Dataset make_synthetic(const SyntheticOptions& options, Order order);

// The task plugin for an order.
template <Order order>
class SyntheticTask final : public Task {
 public:
  using Options = SyntheticOptions;
  explicit SyntheticTask(const Options& options) : options_(options) {}
  Dataset load(std::uint64_t, const Progress&) const override {
    return make_synthetic(options_, order);
  }
  DataOutline outline() const override {
    const auto split = [&](const char* name, Index examples, const std::vector<Index>& length) {
      const auto lengths = drawn_lengths(name, options_.data_seed, examples, length);
      return DataOutline::SplitOutline{.examples = examples, .source = lengths, .target = lengths};
    };
    const auto& [train, dev, test] = options_.length;
    return {.source_symbols = kSpecials + options_.symbols,
            .target_symbols = kSpecials + options_.symbols,
            .train = split("train", options_.examples.train, train),
            .dev = split("dev", options_.examples.dev, dev),
            .test = split("test", options_.examples.test, test)};
  }

 private:
  Options options_;
};

// Returns "a" to "z", "A" to "Z", then "s52", "s53", ...
std::vector<std::string> symbol_names(Index count);

}  // namespace softalign
