// Multi-head attention over recurrent states (Vaswani et al. 2017, section 3.2.2, instead of that of
// Bahdanau et al.): each head compares the decoder's state with the annotations in its own space,
//   head_i = softmax((s W_i^Q) (H W_i^K)^T / sqrt(d_k)) H W_i^V,   context = [head_1 ; ... ; head_H] W^O.
// The recorded weights are the mean over the heads; Inspection::heads receives those of each head.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class MultiHeadAttention final : public Attention {
 public:
  struct Options {
    Index heads = 4;
    std::optional<Index> units = {};
    template <class V>
    void describe(V& v) {
      v("heads", heads, "number of heads", between(1, kLargestLayer));
      v("units",
        units,
        "units of all heads together; null: as wide as the state",
        between(1, kLargestLayer));
    }
  };

  MultiHeadAttention(const Parameters& p, AttentionSizes sizes, const Options& options)
      : MultiHeadAttention(p, sizes, options.units.value_or(sizes.query), options.heads) {}

  // [B,S,2 units]: keys, values
  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{memory_(annotations.states), {}, annotations.lengths};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    using Wanted = CrossAttention::Wanted;
    const MultiHead heads =
        attention_(query.state,
                   memory.keys,
                   0,
                   memory.lengths,
                   memory.inspection.heads != nullptr ? Wanted::each : Wanted::mean);
    if (heads.each) memory.inspection.heads->add(0, query.step, heads.each.value());
    return {heads.context, unstack_steps(Var(heads.mean))[0]};
  }
  Index context_size() const override { return annotation_; }
  bool aligns() const override { return true; }

 private:
  MultiHeadAttention(const Parameters& p, AttentionSizes sizes, Index units, Index heads)
      : annotation_(sizes.annotation),
        memory_(p, "memory", sizes.annotation, 2 * units, Linear::Bias::no, init::glorot(2)),
        attention_(p, "heads", sizes.query, units, heads, sizes.annotation) {
    if (units % heads != 0)
      throw SpecError(
          "model.attention.heads: {} units cannot be split into {} equal heads", units, heads);
  }

  Index annotation_;
  Linear memory_;
  CrossAttention attention_;
};
SOFTALIGN_ATTENTION(
    "multi_head",
    MultiHeadAttention,
    "several heads over recurrent states, each with its projections (Vaswani et al. 2017)");

}  // namespace
}  // namespace softalign
