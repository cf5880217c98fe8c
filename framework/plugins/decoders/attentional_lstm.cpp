// LSTM that attends before each step, with its h (Xu et al. 2015, section 3.1.2; the equations are
// Bahdanau's): seq/attentional_decoder.hpp.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using AttentionalLstm = AttentionalDecoder<Lstm>;
SOFTALIGN_DECODER("attentional_lstm",
                  AttentionalLstm,
                  "LSTM that attends before each step (Bahdanau et al. 2015, Xu et al. 2015)");

}  // namespace
}  // namespace softalign
