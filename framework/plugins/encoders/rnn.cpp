// tanh RNN (Elman 1990): h_j = tanh(W x_j + U h_{j-1} + b).
#include "framework/plugin.hpp"

namespace softalign {
namespace {

using RnnEncoder = RecurrentEncoder<Rnn>;
SOFTALIGN_ENCODER("rnn", RnnEncoder, "tanh RNN in one direction or both, stacked (Elman 1990)");

}  // namespace
}  // namespace softalign
