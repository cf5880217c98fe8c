// Checks the gradients of the tape against finite differences, in the double build. The loss is
// sqrt(sum w e²) over all outputs, with fixed, different w: a plain sum hides errors that cancel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/autodiff/tape.hpp"

namespace softalign {

struct GradientCheck {
  double worst = 0;   // largest error: |analytic - numeric|, beyond what rounding explains, /
                      // max(1e-3 * largest gradient, |analytic| + |numeric|)
  std::string where;  // "encoder.U[17]: analytic 0.25, numeric 0.26"
  Index checked = 0;  // numbers compared; 0: all outputs are 0, where the loss has no derivative
  std::vector<std::string> idle;  // parameters whose gradient is all 0: possibly unused
};

// f maps leaves (same order and shapes as `inputs`) to the outputs whose loss is checked, on the
// given tape. About `samples` numbers of each input and parameter are checked, evenly spaced.
GradientCheck check_gradients(
    const std::function<std::vector<Var>(Tape&, const std::vector<Var>&)>& f,
    std::vector<View> inputs,
    ParameterStore* parameters,
    Index samples = 24,
    double step = 1e-5);

}  // namespace softalign
