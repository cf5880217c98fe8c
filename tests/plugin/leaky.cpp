// Leaky score: that of angular.cpp without the cosine, and with a gradient that is 1 % too small, which the conformance
// tests must find. Not an example.
#include <algorithm>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Leaky final : public Score {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Leaky(const Parameters& p, ScoreSizes sizes, const Options&)
      : project_(p, "project", sizes.query, sizes.annotation, Linear::Bias::no) {}

  Memory prepare(Var annotations) const override { return {annotations}; }
  Var score(const Memory& memory, const Query& query) const override {
    Var energies = batched_dot(memory.keys, project_(query.state), memory.lengths);
    View copy = energies.tape().allocate(energies.shape());
    std::copy(energies.value().begin(), energies.value().end(), copy.data);
    return energies.tape().record(copy, {energies}, [energies](View gradient) {
      View to = energies.gradient();
      for (Index i = 0; i < gradient.size(); ++i)
        to.data[i] += static_cast<real>(0.99) * gradient.data[i];
    });
  }

 private:
  Linear project_;
};
SOFTALIGN_SCORE("leaky", Leaky, "a gradient that is 1 % short");

}  // namespace
}  // namespace softalign
