// No recurrence: annotations are the embeddings, with or without positions, and their mean represents
// the sentence (a bag of words, as a baseline for recurrent encoders).
#include <optional>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class EmbeddingMean final : public Encoder {
 public:
  struct Options {
    std::string positions = "none";
    Index max_positions = 512;
    template <class V>
    void describe(V& v) {
      v("positions",
        positions,
        "learned: a vector for each position is added to its embedding",
        one_of("none", "learned"));
      v("max_positions",
        max_positions,
        "number of learned vectors; later positions share the last",
        between(1, kLongestSentence));
      v.inactive("max_positions", positions == "none", "positions is none");
    }
  };

  EmbeddingMean(const Parameters& p, Index embedding, const Options& options) : size_(embedding) {
    if (options.positions == "learned")
      positions_.emplace(p, "positions", options.max_positions, embedding);
  }

  Annotations encode(const EncoderInput& source) const override {
    Var states = positions_ ? (*positions_)(source.embedded) : source.embedded;
    Var mean = mean_prefix(states, source.lengths);
    return {states, mean, mean, source.lengths};
  }
  Index size() const override { return size_; }
  Index start_size() const override { return size_; }

 private:
  Index size_;
  std::optional<LearnedPositions> positions_;
};
SOFTALIGN_ENCODER("embedding_mean",
                  EmbeddingMean,
                  "the embeddings themselves; the sentence is their mean");

}  // namespace
}  // namespace softalign
