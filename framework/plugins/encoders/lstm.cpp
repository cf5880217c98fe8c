// LSTM with forget gate, without peepholes (Hochreiter and Schmidhuber 1997; Gers et al. 2000):
//   i, f, o = sigmoid(W x_j + U h_{j-1} + b),   g = tanh(W x_j + U h_{j-1} + b), each with its own W, U, b
//   c_j = f c_{j-1} + i g,   h_j = o tanh(c_j),   h_0 = c_0 = 0
// x_j is the embedding, or the output of the layer below; with both directions, annotation j is
// [forward h_j ; backward h_j]. Sutskever et al. 2014 stack four layers over the reversed source.
#include "framework/plugin.hpp"

namespace softalign {
namespace {

class LstmEncoder final : public RecurrentEncoder<Lstm> {
 public:
  struct Options : RecurrentOptions {
    double forget_bias = Lstm::kForgetBias;
    template <class V>
    void describe(V& v) {
      RecurrentOptions::describe(v);
      describe_forget_bias(v, forget_bias);
    }
  };

  LstmEncoder(const Parameters& p, Index embedding, const Options& options)
      : RecurrentEncoder(p, embedding, options, [&](const Parameters& q, Index in) {
          return Lstm(q, in, options.units, options.forget_bias);
        }) {}
};
SOFTALIGN_ENCODER("lstm",
                  LstmEncoder,
                  "LSTM in one direction or both, stacked (Hochreiter and Schmidhuber 1997)");

}  // namespace
}  // namespace softalign
