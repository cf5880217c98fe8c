// Stacked GRUs that attend after the step, with the new state of the top layer (Luong et al. 2015, sections 3 to
// 3.3; the paper has LSTMs):
//   h_t = GRUs(h_{t-1}, [E y_{t-1} ; h~_{t-1}]),   h~_t = tanh(W_c [h_t ; attention(h_t)])   (equation 5)
// and the projection to the vocabulary reads h~_t. With input_feeding, h~ is part of the next step's input; h~_0 =
// 0. Without a context there is no h~: the projection reads h_t. The first layer reads [E y ; h~] as x, higher layers
// read the h of the layer below (Cho et al. 2014); z, r and n each have their own W, U, b:
//   z, r = sigmoid(W x + U h + b),   n = tanh(W x + U (r h) + b),   h' = (1 - z) h + z n
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using LuongGru = LuongDecoder<Gru>;
SOFTALIGN_DECODER("luong_gru",
                  LuongGru,
                  "stacked GRUs that attend after the step, input feeding (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
