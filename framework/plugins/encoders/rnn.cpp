// tanh RNN (Elman 1990): h_j = tanh(W x_j + U h_{j-1} + b), h_0 = 0. x_j is the embedding, or the
// output of the layer below; with both directions, annotation j is [forward h_j ; backward h_j].
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using RnnEncoder = RecurrentEncoder<Rnn>;
SOFTALIGN_ENCODER("rnn", RnnEncoder, "tanh RNN in one direction or both, stacked (Elman 1990)");

}  // namespace
}  // namespace softalign
