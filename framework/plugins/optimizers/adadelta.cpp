// Adadelta (Zeiler 2012): G = rho G + (1 - rho) g²;  d = sqrt(D + eps) / sqrt(G + eps) g;
// D = rho D + (1 - rho) d²;  w -= learning_rate d.
#include <cmath>

#include "framework/kernels/vector_math.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

struct AdadeltaConstants {
  real rate, rho, epsilon, scale;
};

SOFTALIGN_KERNEL void adadelta(
    Index n, AdadeltaConstants c, const real* gradient, real* w, real* squares, real* deltas) {
  for (Index i = 0; i < n; ++i) {
    const real g = c.scale * gradient[i];
    squares[i] = c.rho * squares[i] + (1 - c.rho) * g * g;
    const real d = std::sqrt(deltas[i] + c.epsilon) / std::sqrt(squares[i] + c.epsilon) * g;
    deltas[i] = c.rho * deltas[i] + (1 - c.rho) * d * d;
    w[i] -= c.rate * d;
  }
}

class Adadelta final : public Optimizer {
 public:
  struct Options {
    double learning_rate = 1;
    double rho = 0.95;
    double epsilon = 1e-6;
    std::optional<double> weight_decay;
    template <class V>
    void describe(V& v) {
      v("learning_rate", learning_rate, "factor on every step; 1 in the paper", positive());
      v("rho", rho, "decay of the averages", fraction());
      v("epsilon", epsilon, "added under the roots", positive());
      v("weight_decay", weight_decay, kWeightDecay, positive());
    }
  };
  explicit Adadelta(const Options& options) : options_(options) {}

  std::vector<std::string> state() const override { return {"squared_gradients", "squared_steps"}; }
  void apply(Index count,
             const Update& update,
             const real* gradient,
             real* value,
             std::span<real* const> state) const override {
    adadelta(count,
             {static_cast<real>(update.rate_factor * options_.learning_rate),
              static_cast<real>(options_.rho),
              static_cast<real>(options_.epsilon),
              update.gradient_scale},
             gradient,
             value,
             state[0],
             state[1]);
  }
  double learning_rate() const override { return options_.learning_rate; }
  double weight_decay() const override { return options_.weight_decay.value_or(0); }

 private:
  Options options_;
};
SOFTALIGN_OPTIMIZER("adadelta", Adadelta, "Adadelta (Zeiler 2012)");

}  // namespace
}  // namespace softalign
