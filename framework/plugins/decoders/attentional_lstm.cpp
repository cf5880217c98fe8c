// LSTM that attends before each step, with the previous h (the order of Bahdanau et al. 2015, appendix A.2.2; the
// cell of Xu et al. 2015, equations 1 to 3):
//   c_t = attention(h_{t-1}),   x_t = [E y_{t-1} ; c_t]
//   i, f, o = sigmoid(W x_t + U h_{t-1} + b),   g = tanh(W x_t + U h_{t-1} + b), each with its own W, U, b
//   m_t = f m_{t-1} + i g,   h_t = o tanh(m_t)
//   readout = maxout(U_o h + V_o E y_{t-1} + C_o c_t + b_o), which the projection to the vocabulary reads
// readout_state selects h: h_{t-1}, or h_t (Xu et al., equation 7). h_0 and m_0 have a projection each (their section
// 3.1.2). With context_gate, c_t is the attention's context times sigmoid(w h_{t-1} + b) (their section 4.2.1).
// With query: with_symbol, attention reads W_d h_{t-1} + b_d + E y_{t-1} (Gehring et al. 2016, section 2).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using AttentionalLstm = AttentionalDecoder<Lstm>;
SOFTALIGN_DECODER("attentional_lstm",
                  AttentionalLstm,
                  "LSTM that attends before each step (Bahdanau et al. 2015, Xu et al. 2015)");

}  // namespace
}  // namespace softalign
