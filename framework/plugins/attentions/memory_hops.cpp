// Memory hops (end-to-end memory networks, Sukhbaatar et al. 2015, sections 2.1 and 2.2) with the decoder's state s_i
// as the question and the annotations h_j as the sentences of the memory: u_1 = B s_i, and in each hop k
//   m_j = A_k h_j,  c_j = C_k h_j,  p_k = softmax over j of u_k · m_j,  o_k = sum_j p_kj c_j      (equations 1, 2)
//   u_{k+1} = H u_k + o_k,    context = u_K + o_K, which the paper multiplies by W                (equations 3, 4)
// Annotations of a recurrent encoder contain their positions, so there is no temporal encoding. Values of `tying`:
//   layer_wise  all hops share A, C and H, as in the paper
//   adjacent    A_{k+1} = C_k, without H, as in the paper
//   none        each hop has its own A and C, each transition between hops its own H; not in the paper
// The recorded weights are those of the last hop; Inspection::heads receives those of each hop, as heads. Hops that
// depend on each other are hard to learn at once: experiments/memory_hops trains one of them first.
#include <cmath>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class MemoryHops final : public Attention {
 public:
  struct Options {
    Index hops = 2;
    std::optional<Index> units = {};
    std::string tying = "layer_wise";
    template <class V>
    void describe(V& v) {
      v("hops", hops, "K: lookups per step", between(1, 16));
      v("units",
        units,
        "numbers of u, m and c; null: width of the state",
        between(1, kLargestLayer));
      v("tying",
        tying,
        "hops that share weights: layer_wise (all of them), adjacent (A of a hop is C of the one "
        "before), none",
        one_of("layer_wise", "adjacent", "none"));
      v.inactive("tying", hops == 1, "there is only one hop");
    }
  };

  MemoryHops(const Parameters& p, AttentionSizes sizes, const Options& options)
      : MemoryHops(p, sizes, options, options.units.value_or(sizes.query)) {}

  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{memory_(annotations.states), {}, annotations.lengths};
  }

  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    const Index rows = memory.keys.shape()[0], positions = memory.keys.shape()[1];
    const bool each = memory.inspection.heads != nullptr;
    const View all = each ? memory.keys.tape().allocate({1, rows, hops_, positions}) : View{};
    count_energies(memory.lengths, hops_);
    Var asked = question_(query.state), found, weights;  // u, o, p
    for (Index k = 0; k < hops_; ++k) {
      if (k > 0) asked = (links_.empty() ? asked : link(k)(asked)) + found;
      const MultiHead hop = multi_head_attention(
          {scale_ * asked},
          {memory.keys, key(k) * units_},
          {memory.keys, value(k) * units_},
          {.size = units_, .heads = 1, .lengths = memory.lengths, .mean = true});
      found = hop.context;
      weights = unstack_steps(Var(hop.mean))[0];
      for (Index b = 0; each && b < rows; ++b)
        std::copy_n(weights.value().data + b * positions,
                    positions,
                    all.data + (b * hops_ + k) * positions);
    }
    if (each) memory.inspection.heads->add(0, query.step, all);
    return {asked + found, weights};
  }
  Index context_size() const override { return units_; }
  bool aligns() const override { return true; }

 private:
  MemoryHops(const Parameters& p, AttentionSizes sizes, const Options& options, Index units)
      : hops_(options.hops),
        units_(units),
        tying_(options.tying),
        scale_(static_cast<real>(std::sqrt(static_cast<double>(units)))),
        question_(p, "question", sizes.query, units, Linear::Bias::no),
        memory_(p,
                "memory",
                sizes.annotation,
                (1 + value(hops_ - 1)) * units,
                Linear::Bias::no,
                init::glorot(1 + value(hops_ - 1))) {
    const Index own = tying_ == "layer_wise" ? 1 : tying_ == "none" ? hops_ - 1 : 0;
    for (Index k = 1; k <= std::min(own, hops_ - 1); ++k)
      links_.emplace_back(
          p, own == 1 ? "link" : fmt::format("link_{}", k), units, units, Linear::Bias::no);
  }

  // Indices of the blocks of memory_ that hold m and c of hop k, from 0.
  Index key(Index k) const { return tying_ == "layer_wise" ? 0 : tying_ == "none" ? 2 * k : k; }
  Index value(Index k) const { return key(k) + 1; }
  const Linear& link(Index k) const { return links_[links_.size() == 1 ? 0 : usize(k - 1)]; }

  Index hops_, units_;
  std::string tying_;
  real scale_;                 // sqrt(units), by which multi_head_attention divides energies
  Linear question_;            // B
  Linear memory_;              // A and C side by side, of all hops
  std::vector<Linear> links_;  // H
};
SOFTALIGN_ATTENTION(
    "memory_hops",
    MemoryHops,
    "several lookups per step, each asks with what the last one found (Sukhbaatar et "
    "al. 2015)");

}  // namespace
}  // namespace softalign
