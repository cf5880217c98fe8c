// Local attention with a monotonic window (Luong et al. 2015, section 3.2, local-m): at target position t the
// softmax is over the source positions within [t - D, t + D]; t is at most the last source position.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class LocalMonotonic final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    Options() { score = score_choice("general"); }
    Index window = 10;
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("window", window, "D: positions on either side of the centre", between(1, kLargestLayer));
    }
  };

  LocalMonotonic(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options), window_(options.window) {}

 private:
  void narrow(AttentionMemory& memory, const AttentionQuery& query) const override {
    const std::size_t rows = memory.lengths.size();
    Index* begins = memory.values.tape().arena().array_of<Index>(2 * std::ssize(memory.lengths));
    Index* ends = begins + rows;
    for (std::size_t b = 0; b < rows; ++b) {
      const Index center = std::min(query.step, memory.lengths[b] - 1);
      begins[b] = std::max<Index>(0, center - window_);
      ends[b] = std::min(memory.lengths[b], center + window_ + 1);
    }
    memory.begins = {begins, rows};
    memory.lengths = {ends, rows};
  }

  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery&) const override {
    return {softmax_prefix(energies, memory.lengths, memory.begins)};
  }

  Index window_;
};
SOFTALIGN_ATTENTION("local_m",
                    LocalMonotonic,
                    "softmax over a window that moves one position a step (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
