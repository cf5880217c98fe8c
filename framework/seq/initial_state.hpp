// What a recurrent decoder begins with. Each array of its state, of an LSTM h and c alike, has a
// projection of its own, as in Xu et al. 2015 (section 3.1.2) and in Nematus:
//   zero  0                             last  the encoder's final states, layer by layer (Sutskever et
//   tanh  tanh(W start + b), Bahdanau         al. 2014; Luong et al. 2015)
//         et al. 2015, appendix A.2.2   mean  tanh(W mean of the annotations + b), Xu et al. 2015
#pragma once

#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"
#include "framework/seq/decoder.hpp"

namespace softalign {

// Written among a decoder's own options.
struct InitialStateOptions {
  std::string initial_state = "tanh";
  template <class V>
  void describe(V& v) {
    v("initial_state",
      initial_state,
      "what it begins with: tanh(W start), tanh(W mean of the annotations), the encoder's last "
      "states layer by layer, zero",
      one_of("tanh", "mean", "last", "zero"));
  }
};

// Where the parameters of a layer lie, from 1: the first one's beside the decoder's.
inline Parameters parameters_of_layer(const Parameters& p, Index layer) {
  return layer == 1 ? p : p / fmt::format("layer_{}", layer);
}

// SpecError where the decoder would see nothing of the source: no context, and a state that begins at 0.
void require_source(const InitialStateOptions& options, Index context_size);

class InitialState {
 public:
  // `arrays` of each of `layers`, [B,U]. SpecError when the encoder's last states do not fit.
  InitialState(const Parameters& p,
               const InitialStateOptions& options,
               const DecoderSizes& sizes,
               Index layers,
               std::size_t arrays,
               Index units);

  State operator()(const Annotations& annotations) const;  // layer by layer

 private:
  void check_finals(const std::vector<Index>& finals, Index layers) const;

  bool last_;
  bool mean_;
  std::size_t arrays_;  // of all layers
  Index units_;
  std::vector<Linear> projections_;  // none: zero or last
};

}  // namespace softalign
