// Sparsemax attention: the point of the simplex nearest to the energies instead of their softmax, so
// that many weights are exactly 0 (Martins and Astudillo 2016, equations 2, 9):
//   a_i = argmin over the simplex of |a - e_i|²,   a_ij = max(0, e_ij - t), t such that they sum to 1.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Sparsemax final : public ScoredAttention {
 public:
  using ScoredAttention::ScoredAttention;

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery&) const override {
    return {sparsemax_prefix(energies, memory.lengths)};
  }
};
SOFTALIGN_ATTENTION("sparsemax",
                    Sparsemax,
                    "nearest point of the simplex: exact zeros (Martins and Astudillo 2016)");

}  // namespace
}  // namespace softalign
