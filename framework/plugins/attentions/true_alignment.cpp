// True alignment, a control: the weights are not learned. At target position t they are equal at the
// source positions of its gold links; a position without a link, and </s>, attend to the last source
// position. It is an upper bound for the gain from a good alignment. Unlike all other attentions it
// reads gold links, also at test time.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class TrueAlignment final : public Attention {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  TrueAlignment(const Parameters&, AttentionSizes sizes, const Options&)
      : annotation_(sizes.annotation) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{annotations.averaged(), {}, annotations.lengths};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    if (memory.source.links.empty())
      throw DataError(
          "attention 'true_alignment' needs the links of the sentences, but there are none");
    Tape& tape = memory.keys.tape();
    const Index positions = memory.keys.shape()[1];
    View weights = tape.zeros({memory.keys.shape()[0], positions});
    for (Index b = 0; b < weights.shape[0]; ++b)
      look(memory.links_of(b), memory.lengths[usize(b)], query.step, weights.data + b * positions);
    Var known = tape.constant(weights);
    return {weighted_sum(known, memory.keys, memory.lengths), known};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }
  bool weights_are_learned() const override { return false; }
  bool reads_links() const override { return true; }

 private:
  static void look(std::span<const Link> links, Index length, Index step, real* weights) {
    const auto here = [&](const Link& link) { return link.target == step && link.source < length; };
    const auto count = std::count_if(links.begin(), links.end(), here);
    for (const Link& link : links)
      if (here(link)) weights[link.source] += 1 / static_cast<real>(count);
    if (count == 0) weights[length - 1] = 1;
  }

  Index annotation_;
};
SOFTALIGN_ATTENTION("true_alignment",
                    TrueAlignment,
                    "control: the gold links of the task as weights");

}  // namespace
}  // namespace softalign
