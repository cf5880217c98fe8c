// GRU that attends before each step, with the previous state (Bahdanau et al. 2015, appendix A.2.2):
//   c_i = attention(s_{i-1}),   x_i = [E y_{i-1} ; c_i]
//   z = sigmoid(W_z x_i + U_z s_{i-1} + b_z),   r = sigmoid(W_r x_i + U_r s_{i-1} + b_r)
//   s~ = tanh(W x_i + U (r s_{i-1}) + b),   s_i = (1 - z) s_{i-1} + z s~
//   readout = maxout(U_o s + V_o E y_{i-1} + C_o c_i + b_o), which the projection to the vocabulary reads
// readout_state selects s: s_{i-1} as in Bahdanau's code, or s_i (Cho et al. 2014, appendix A.1.2).
// s_0 = tanh(W_s h + b_s), h the backward state at the first symbol, unless initial_state selects another.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using AttentionalGru = AttentionalDecoder<Gru>;
SOFTALIGN_DECODER("attentional_gru",
                  AttentionalGru,
                  "GRU that attends before each step (Bahdanau et al. 2015, appendix A)");

}  // namespace
}  // namespace softalign
