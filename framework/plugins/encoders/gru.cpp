// GRU (Cho et al. 2014; Bahdanau et al. 2015, appendix A.2.1), with the reset gate before the product:
//   z_j = sigmoid(W_z x_j + U_z h_{j-1} + b_z),   r_j = sigmoid(W_r x_j + U_r h_{j-1} + b_r)
//   h~_j = tanh(W x_j + U (r_j h_{j-1}) + b),     h_j = (1 - z_j) h_{j-1} + z_j h~_j
// x_j is the embedding, or the output of the layer below; h_0 = 0. With both directions, annotation j
// is [forward h_j ; backward h_j] (Bahdanau et al. 2015, section 3.2).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using GruEncoder = RecurrentEncoder<Gru>;
SOFTALIGN_ENCODER("gru",
                  GruEncoder,
                  "GRU in one direction or both, stacked (Cho et al. 2014, Bahdanau et al. 2015)");

}  // namespace
}  // namespace softalign
