// No attention: the context of every step is the encoder's last state (RNNencdec: Cho et al. 2014;
// Bahdanau et al. 2015).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class NoAttention final : public Attention {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  NoAttention(const Parameters&, AttentionSizes sizes, const Options&)
      : annotation_(sizes.annotation) {}

  Memory prepare(const Annotations& annotations) const override {
    return {annotations.last, {}, annotations.lengths};
  }
  Glimpse attend(const Memory& memory, const Query&) const override { return {memory.keys, {}}; }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return false; }

 private:
  Index annotation_;
};
SOFTALIGN_ATTENTION("none",
                    NoAttention,
                    "the encoder's last state at every step: vanilla seq2seq (Cho et al. 2014)");

}  // namespace
}  // namespace softalign
