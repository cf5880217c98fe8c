// p(y) = softmax(W r + b): a projection of the readout to the vocabulary, fused with its loss. With
// model.tied_embeddings, W is the table of the target embeddings (Press and Wolf 2017).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Softmax final : public OutputLayer {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Softmax(const Parameters& p, const OutputSizes& sizes, const Options&)
      : projection_(p, "projection", sizes.readout, sizes.symbols, sizes.tied),
        multiplications_(sizes.readout * sizes.symbols) {}

  void loss(std::span<const OutputRows> parts,
            const Objective& objective,
            const GradientOf& gradient,
            Workers& workers,
            Arena& scratch) const override {
    projected_loss(projection_, parts, objective, gradient, workers, scratch);
  }
  Var logits(const OutputInput& input) const override { return projection_(input.readout); }
  View bias() const override { return projection_.bias(); }
  Index multiplications() const override { return multiplications_; }

 private:
  Projection projection_;
  Index multiplications_;
};
SOFTALIGN_OUTPUT_LAYER("softmax", Softmax, "softmax(W r + b) over the vocabulary");

}  // namespace
}  // namespace softalign
