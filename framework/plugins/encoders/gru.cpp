// One-directional GRU (Cho et al. 2014).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class GruEncoder final : public Encoder {
 public:
  struct Options {
    Index units = 256;
    template <class V>
    void describe(V& v) {
      v("units", units, "hidden units", between(1, kLargestLayer));
    }
  };

  GruEncoder(const Parameters& p, Index embedding, const Options& options)
      : units_(options.units), forward_(p / "forward", embedding, options.units) {}

  Annotations encode(const EncoderInput& source) const override {
    const std::span<const Index> lengths = source.lengths;
    Var states = forward_.sequence(forward_.inputs(source.embedded), lengths, false)[0];
    Var last = select_last_valid(states, lengths);
    return {states, last, last, lengths, {last}};
  }
  Index size() const override { return units_; }
  Index start_size() const override { return units_; }
  std::vector<Index> final_sizes() const override { return {size()}; }

 private:
  Index units_;
  Gru forward_;
};
SOFTALIGN_ENCODER("gru", GruEncoder, "one-directional GRU (Cho et al. 2014)");

}  // namespace
}  // namespace softalign
