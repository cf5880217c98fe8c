// Lion (Chen et al. 2023, algorithm 2): w -= learning_rate sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g.
#include "framework/kernels/vector_math.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

struct LionConstants {
  real rate, beta1, beta2, scale;
};

SOFTALIGN_KERNEL void lion(Index n, LionConstants c, const real* gradient, real* w, real* m) {
  for (Index i = 0; i < n; ++i) {
    const real g = c.scale * gradient[i];
    const real direction = c.beta1 * m[i] + (1 - c.beta1) * g;
    w[i] -= c.rate * static_cast<real>((direction > 0) - (direction < 0));
    m[i] = c.beta2 * m[i] + (1 - c.beta2) * g;
  }
}

class Lion final : public Optimizer {
 public:
  struct Options {
    double learning_rate = 1e-4;
    double beta1 = 0.9;
    double beta2 = 0.99;
    std::optional<double> weight_decay;
    template <class V>
    void describe(V& v) {
      v("learning_rate", learning_rate, "step size", positive());
      v("beta1", beta1, "share of the mean in the direction", fraction());
      v("beta2", beta2, "decay of the mean of gradients", fraction());
      v("weight_decay", weight_decay, kWeightDecay, positive());
    }
  };
  explicit Lion(const Options& options) : options_(options) {}

  std::vector<std::string> state() const override { return {"mean"}; }
  void apply(Index count,
             const Update& update,
             const real* gradient,
             real* value,
             std::span<real* const> state) const override {
    lion(count,
         {static_cast<real>(update.rate_factor * options_.learning_rate),
          static_cast<real>(options_.beta1),
          static_cast<real>(options_.beta2),
          update.gradient_scale},
         gradient,
         value,
         state[0]);
  }
  double learning_rate() const override { return options_.learning_rate; }
  double weight_decay() const override { return options_.weight_decay.value_or(0); }

 private:
  Options options_;
};
SOFTALIGN_OPTIMIZER("lion", Lion, "the sign of a mean of gradients (Chen et al. 2023)");

}  // namespace
}  // namespace softalign
