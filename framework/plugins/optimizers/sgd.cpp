// Stochastic gradient descent: m = momentum m + g;  w -= learning_rate m.
#include "framework/kernels/vector_math.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

SOFTALIGN_KERNEL void sgd(Index n, real rate, real scale, const real* g, real* w) {
  for (Index i = 0; i < n; ++i) w[i] -= rate * (scale * g[i]);
}

SOFTALIGN_KERNEL void sgd_with_momentum(
    Index n, real rate, real momentum, real scale, const real* g, real* w, real* m) {
  for (Index i = 0; i < n; ++i) {
    m[i] = momentum * m[i] + scale * g[i];
    w[i] -= rate * m[i];
  }
}

class Sgd final : public Optimizer {
 public:
  struct Options {
    double learning_rate = 0.1;
    double momentum = 0;
    std::optional<double> weight_decay;
    template <class V>
    void describe(V& v) {
      v("learning_rate", learning_rate, "step size", positive());
      v("momentum", momentum, "share of the previous step that is kept", fraction());
      v("weight_decay", weight_decay, kWeightDecay, positive());
    }
  };
  explicit Sgd(const Options& options) : options_(options) {}

  std::vector<std::string> state() const override {
    return options_.momentum == 0 ? std::vector<std::string>{}
                                  : std::vector<std::string>{"momentum"};
  }
  bool rests_without_gradient() const override { return options_.momentum == 0; }
  void apply(Index count,
             const Update& update,
             const real* gradient,
             real* value,
             std::span<real* const> state) const override {
    const real rate = static_cast<real>(update.rate_factor * options_.learning_rate);
    if (options_.momentum == 0)
      sgd(count, rate, update.gradient_scale, gradient, value);
    else
      sgd_with_momentum(count,
                        rate,
                        static_cast<real>(options_.momentum),
                        update.gradient_scale,
                        gradient,
                        value,
                        state[0]);
  }
  double learning_rate() const override { return options_.learning_rate; }
  double weight_decay() const override { return options_.weight_decay.value_or(0); }

 private:
  Options options_;
};
SOFTALIGN_OPTIMIZER("sgd", Sgd, "stochastic gradient descent, with momentum if asked");

}  // namespace
}  // namespace softalign
