// The cost of computing the sentences of a split, teacher-forced, each alone (seq/cost.hpp,
// kernels/work.hpp):
//   energies         per sentence: scores of target positions with source positions, with </s> on both sides:
//                    40 x 40 are 1,600; a window needs fewer, each head has its own, without attention there are 0
//   multiplications  per target symbol: those of the whole model, with the encoder's share
//   without_projection  per target symbol: multiplications without the projection to the vocabulary
//   activations      per sentence: bytes that a training tape holds before backward
// Means over sentences; multiplications are pooled: the total over sentences divided by the total
// of target symbols.
#include "framework/seq/cost.hpp"
#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

class CostDiagnostic final : public Diagnostic {
 public:
  using Options = DiagnosticOptions;
  explicit CostDiagnostic(const Options& options) : sentences_(options.sentences) {}

  bool looks(Moment moment, const Split&) const override { return moment == Moment::end; }

  std::vector<FoundArray> arrays() const override {
    return {{"energies", "energies of a sentence"},
            {"multiplications", "multiplications of a target symbol"},
            {"without_projection", "multiplications of a target symbol but for the projection"},
            {"activations", "bytes of activations of a sentence", "byte"}};
  }

  Findings look(const Probed& probed) const override {
    const auto costs = of_each_sentence(probed, sentences_, [&](Index, const Batch& batch) {
      return cost_of(probed.model, batch);
    });
    Cost all;
    for (const Cost& one : costs) {
      all.target_symbols += one.target_symbols;
      all.multiplications += one.multiplications;
      all.projection += one.projection;
      all.energies += one.energies;
      all.activations += one.activations;
    }
    const auto share = [](Index part, Index whole) {
      return std::vector{static_cast<double>(part) / static_cast<double>(whole)};
    };
    const Index n = std::ssize(costs), symbols = all.target_symbols;
    return {{},
            {{"energies", share(all.energies, n)},
             {"multiplications", share(all.multiplications, symbols)},
             {"without_projection", share(all.multiplications - all.projection, symbols)},
             {"activations", share(all.activations, n)}}};
  }

 private:
  Index sentences_;
};
SOFTALIGN_DIAGNOSTIC("cost",
                     CostDiagnostic,
                     "energies, multiplications and bytes of activations that sentences take");

}  // namespace
}  // namespace softalign
