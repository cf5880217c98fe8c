// Bidirectional GRU (Bahdanau et al. 2015, section 3.2): h_j = [forward h_j ; backward h_j].
// `last` joins the final state of both directions, so that vanilla seq2seq sees as much as one
// annotation holds.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class BidirectionalGru final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units of each direction", between(1, kLargestLayer));
    }
  };

  BidirectionalGru(const Parameters& p, Index embedding, const Options& options)
      : units_(options.units),
        forward_(p / "forward", embedding, options.units),
        backward_(p / "backward", embedding, options.units) {}

  Annotations encode(const EncoderInput& source) const override {
    const std::span<const Index> lengths = source.lengths;
    Var forward = forward_.sequence(forward_.inputs(source.embedded), lengths, false)[0];
    Var backward = backward_.sequence(backward_.inputs(source.embedded), lengths, true)[0];
    Var first = select_step(backward, 0);
    Var last = concat_last(select_last_valid(forward, lengths), first);
    return {concat_last(forward, backward), last, first, lengths, {last}};
  }
  Index size() const override { return 2 * units_; }
  Index start_size() const override { return units_; }
  std::vector<Index> final_sizes() const override { return {size()}; }

 private:
  Index units_;
  Gru forward_;
  Gru backward_;
};
SOFTALIGN_ENCODER("bidirectional_gru",
                  BidirectionalGru,
                  "GRU in both directions, states joined (Bahdanau et al. 2015)");

}  // namespace
}  // namespace softalign
