// Shuffled attention, a control: the learned weights of the softmax, permuted pseudo-randomly over the
// source positions. They are as sharp as learned weights, but on other annotations than their energies
// were computed from. At test there is one permutation for each (sentence length, target position).
// Training draws other permutations for each sentence, step and update, because a model trained with
// those of the test learns to invert them.
#include <numeric>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Shuffled final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    Index seed = 0;
    bool redraw = true;
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("seed", seed, "seed of the permutations at test", at_least(0));
      v("redraw", redraw, "false: training has the permutations of the test, which can be learned");
    }
  };

  Shuffled(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options),
        fixed_(static_cast<std::uint64_t>(options.seed), "shuffled attention"),
        drawn_(0, "noise/" + p.name_of("permutations")),
        redraw_(options.redraw) {}

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Tape& tape = energies.tape();
    const Noise* noise = redraw_ ? tape.noise() : nullptr;
    const RandomStream stream = noise != nullptr ? noise->stream(drawn_) : fixed_;
    const Index positions = energies.shape()[1];
    Index* places = tape.arena().array_of<Index>(energies.shape().size());
    for (Index b = 0; b < energies.shape()[0]; ++b) {
      const Index length = memory.lengths[usize(b)];
      permutation(stream,
                  noise != nullptr ? noise->round(b, query.step) : round_of(length, query.step),
                  length,
                  places + b * positions);
    }
    return {permute_prefix(softmax_prefix(energies, memory.lengths), places, memory.lengths)};
  }

  static std::uint64_t round_of(Index length, Index step) {
    return static_cast<std::uint64_t>(length) << 32 | static_cast<std::uint64_t>(step);
  }
  // Fisher-Yates shuffle, without allocating memory.
  static void permutation(const RandomStream& stream,
                          std::uint64_t round,
                          Index length,
                          Index* places) {
    std::iota(places, places + length, Index{0});
    for (Index i = length; i > 1; --i) {
      const auto bound = static_cast<std::uint32_t>(i);
      std::swap(places[i - 1], places[stream.below(bound, bound, round)]);
    }
  }

  RandomStream fixed_;
  RandomStream drawn_;
  bool redraw_;
};
SOFTALIGN_ATTENTION("shuffled", Shuffled, "control: the learned weights at exchanged positions");

}  // namespace
}  // namespace softalign
