// The layer before the projection to the vocabulary: f(U_o s + C_o c + V_o E y), of what a step gives
// (states, context) and of the symbol before it. A deep output (Pascanu et al. 2014; Bahdanau et al.
// 2015, appendix A.2.2). What s is, the decoder says.
#pragma once

#include <string>

#include "framework/config/options.hpp"
#include "framework/nn/layers.hpp"

namespace softalign {

class Readout {
 public:
  struct Options {  // written among a decoder's own
    std::string readout = "maxout";
    Index readout_units = 0;

    // of_zero: what readout_units: 0 means.
    template <class V>
    void describe(V& v, std::string_view of_zero) {
      v("readout", readout, "layer before the softmax", one_of("maxout", "tanh", "relu", "linear"));
      v("readout_units",
        readout_units,
        fmt::format("units of that layer, after maxout; 0: {}", of_zero),
        between(0, kLargestLayer));
    }
  };

  // outputs: size of what a step gives; of_zero: R where readout_units is 0.
  Readout(
      const Parameters& p, const Options& options, Index outputs, Index embedding, Index of_zero);

  Var operator()(Var outputs, Var embedded) const;  // [..., outputs] [..., E] -> [..., R]
  Index size() const { return size_; }              // R

 private:
  enum class Function { maxout, tanh, relu, linear };
  static Function function_named(const std::string& name);

  Function function_;
  Index size_;
  Linear output_;
  Linear symbol_;
};

}  // namespace softalign
