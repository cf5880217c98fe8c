// Global attention over all source positions (Bahdanau et al. 2015, equations 5, 6):
//   a_i = softmax(e_i),   c_i = sum_j a_ij h_j,   e_ij the energies of the score.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Global final : public ScoredAttention {
 public:
  using ScoredAttention::ScoredAttention;

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery&) const override {
    return {softmax_prefix(energies, memory.lengths)};
  }
};
SOFTALIGN_ATTENTION("global",
                    Global,
                    "softmax over all source positions (Bahdanau et al. 2015, Luong et al. 2015)");

}  // namespace
}  // namespace softalign
