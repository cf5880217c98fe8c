// Components of convolutional sequence-to-sequence models (Gehring et al. 2017, section 3): gated
// convolutions with residual connections, and the initial weights of section 3.5.
#pragma once

#include <cmath>
#include <string_view>

#include "framework/nn/layers.hpp"

namespace softalign {

// The factor of a sum of two arrays of the same variance (section 3.4).
inline const real kSumScale = std::sqrt(real(0.5));

// A linear map that no gate follows (section 3.5). dropout: the rate at which its input is dropped.
inline Linear mapping(
    const Parameters& p, std::string_view name, Index in, Index out, double dropout = 0) {
  return {p,
          name,
          in,
          out,
          Linear::Bias::yes,
          init::normal(std::sqrt((1 - dropout) / static_cast<double>(in)))};
}

// v(W [x_1 ; ... ; x_k] + b) with v([a ; b]) = a sigmoid(b), the gated linear unit (Dauphin et al. 2017).
class GatedConvolution {
 public:
  // dropout: the rate at which the windows are dropped.
  GatedConvolution(
      const Parameters& p, std::string_view name, Index units, Index width, double dropout)
      : units_(units),
        convolution_(
            p,
            name,
            width * units,
            2 * units,
            Linear::Bias::yes,
            init::normal(std::sqrt(4 * (1 - dropout) / static_cast<double>(width * units)))) {}

  Var operator()(Var windows) const {  // [..., k d] -> [..., d]
    Var both = convolution_(windows);
    return slice_last(both, 0, units_) * sigmoid(slice_last(both, units_, units_));
  }

 private:
  Index units_;
  Linear convolution_;
};

}  // namespace softalign
