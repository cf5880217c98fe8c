// No attention: the three vanilla baselines. The context is the same at every step, either the encoder's last
// state (RNNencdec: Cho et al. 2014; Bahdanau et al. 2015; for a bidirectional encoder the last states of both
// directions, joined) or the mean of the annotations; or there is no context, so that the decoder reads the
// source from its initial state only (Sutskever et al. 2014).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class NoAttention final : public Attention {
 public:
  struct Options {
    std::string context = "last";
    template <class V>
    void describe(V& v) {
      v("context",
        context,
        "context of every step: the encoder's last state, the mean of the annotations, or nothing "
        "(the source is in the initial state only)",
        one_of("last", "mean", "nothing"));
    }
  };

  NoAttention(const Parameters&, AttentionSizes sizes, const Options& options)
      : mean_(options.context == "mean"),
        context_size_(options.context == "nothing" ? 0 : sizes.annotation) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    if (context_size_ == 0) return Memory{{}, {}, annotations.lengths};
    return Memory{
        mean_ ? mean_prefix(annotations.averaged(), annotations.lengths) : annotations.last,
        {},
        annotations.lengths};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery&) const override {
    return {memory.keys, {}};
  }
  Index context_size() const override { return context_size_; }
  bool aligns() const override { return false; }

 private:
  bool mean_;
  Index context_size_;
};
SOFTALIGN_ATTENTION("none",
                    NoAttention,
                    "one fixed context or none at all: vanilla seq2seq (Cho et al. 2014, Sutskever "
                    "et al. 2014)");

}  // namespace
}  // namespace softalign
