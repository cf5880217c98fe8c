// Stacked LSTMs that attend after the step, with the new h of the top layer (Luong et al. 2015, sections 3 to 3.3):
//   h_t = LSTMs(h_{t-1}, [E y_{t-1} ; h~_{t-1}]),   h~_t = tanh(W_c [h_t ; attention(h_t)])   (equation 5)
// and the projection to the vocabulary reads h~_t. With input_feeding, h~ is part of the next step's input; h~_0
// = 0. Without a context there is no h~: the projection reads h_t (Sutskever et al. 2014). The first layer reads
// [E y ; h~] as x, higher layers read the h of the layer below; i, f, o and g each have their own W, U, b:
//   i, f, o = sigmoid(W x + U h + b),   g = tanh(W x + U h + b),   c' = f c + i g,   h' = o tanh(c')
// b is initially 0, that of f is initially forget_bias.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using LuongLstm = LuongDecoder<Lstm>;
SOFTALIGN_DECODER("luong_lstm",
                  LuongLstm,
                  "stacked LSTMs that attend after the step, input feeding (Luong et al. 2015)");

}  // namespace
}  // namespace softalign
