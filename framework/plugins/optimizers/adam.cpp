// Adam (Kingma and Ba 2015, algorithm 1), at update t:
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g²;
//   w -= learning_rate m/(1 - beta1^t) / (sqrt(v/(1 - beta2^t)) + epsilon)
// with the bias correction folded into step size and epsilon (the paper's section 2).
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/kernels/vector_math.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

struct AdamConstants {
  real rate, beta1, beta2, epsilon, scale;
};

SOFTALIGN_KERNEL void adam(
    Index n, AdamConstants c, const real* gradient, real* w, real* m, real* v) {
  for (Index i = 0; i < n; ++i) {
    const real g = c.scale * gradient[i];
    m[i] = c.beta1 * m[i] + (1 - c.beta1) * g;
    v[i] = c.beta2 * v[i] + (1 - c.beta2) * g * g;
    w[i] -= c.rate * m[i] / (std::sqrt(v[i]) + c.epsilon);
  }
}

class Adam : public Optimizer {
 public:
  struct Options {
    double learning_rate = 1e-3;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    std::optional<double> weight_decay;
    template <class V>
    void describe(V& v) {
      v("learning_rate", learning_rate, "step size", positive());
      v("beta1", beta1, "decay of the mean of gradients", fraction());
      v("beta2", beta2, "decay of the mean of their squares", fraction());
      v("epsilon", epsilon, "added to the root", positive());
      v("weight_decay", weight_decay, kWeightDecay, positive());
    }
  };
  explicit Adam(const Options& options) : options_(options) {}

  std::vector<std::string> state() const override { return {"mean", "variance"}; }
  void apply(Index count,
             const Update& update,
             const real* gradient,
             real* value,
             std::span<real* const> state) const override {
    const double t = static_cast<double>(update.number);
    const double mean_bias = 1 - exact::pow(options_.beta1, t);
    const double root_bias = std::sqrt(1 - exact::pow(options_.beta2, t));
    adam(count,
         {static_cast<real>(update.rate_factor * options_.learning_rate * root_bias / mean_bias),
          static_cast<real>(options_.beta1),
          static_cast<real>(options_.beta2),
          static_cast<real>(options_.epsilon * root_bias),
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
SOFTALIGN_OPTIMIZER("adam", Adam, "Adam (Kingma and Ba 2015)");

class AdamW final : public Adam {
 public:
  struct Options : Adam::Options {
    Options() { weight_decay = 0.01; }
  };
  explicit AdamW(const Options& options) : Adam(options) {}
};
SOFTALIGN_OPTIMIZER("adamw", AdamW, "Adam with weight decay (Loshchilov and Hutter 2019)");

}  // namespace
}  // namespace softalign
