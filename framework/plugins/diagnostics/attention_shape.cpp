// The shape of attention weights, teacher-forced, as means over sentences:
//   coverage     of the source's symbols, (1 / S) sum_i min(1, sum_t w_ti): 100 % when the weights of every symbol
//                sum to at least 1 (the minimum is in the logarithm of Wu et al. 2016, equation 14)
//   monotonicity the share of steps t > 0 at which attention does not move back,
//                sum_i i w_ti >= sum_i i w_(t-1)i; near 0 if the source is read backwards
//   end_mass     the weight on the source's </s>, averaged over steps
// The step that predicts </s> is skipped. If annotations are not source symbols, as for images, the last one is
// not </s>: it counts like the others, and end_mass is undefined.

#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

class AttentionShape final : public Diagnostic {
 public:
  using Options = DiagnosticOptions;
  explicit AttentionShape(const Options& options) : sentences_(options.sentences) {}

  bool looks(Moment moment, const Split& split) const override {
    return moment == Moment::end ? split.name == "test" : true;
  }
  void check(const Model& model) const override {
    if (!model.aligns()) throw SpecError("this model has no attention to look at");
  }

  std::vector<FoundArray> arrays() const override {
    return {{"coverage", "source symbols looked at", "percent"},
            {"monotonicity", "steps that do not go back", "percent"},
            {"end_mass", "weight on the source's </s>", "percent"}};
  }

  Findings look(const Probed& probed) const override {
    const auto sentences = of_each_sentence(probed, sentences_, [&](Index, const Batch& batch) {
      return shape_of(probed.model, batch);
    });
    const auto mean = [&](double Shape::*which) {
      double sum = 0, count = 0;
      for (const Shape& one : sentences)
        if (const double value = one.*which; value == value) {
          sum += value;
          ++count;
        }
      return std::vector{count == 0 ? kUndefined : 100 * sum / count};
    };
    return {{},
            {{"coverage", mean(&Shape::coverage)},
             {"monotonicity", mean(&Shape::monotonicity)},
             {"end_mass", mean(&Shape::end_mass)}}};
  }

 private:
  struct Shape {
    double coverage = kUndefined, monotonicity = kUndefined, end_mass = kUndefined;
  };

  static Shape shape_of(const Model& model, const Batch& batch) {
    Tape tape(Tape::Mode::infer);
    const Model::Taught taught = model.teach(tape, batch, {});
    const Index positions = taught.positions[0], steps = batch.target_lengths[0] - 1;
    const bool symbols = positions == batch.source_lengths[0];
    const Index words = symbols ? positions - 1 : positions;
    std::vector<double> looked(usize(positions));
    double before = 0, forwards = 0;
    for (Index t = 0; t < steps; ++t) {
      const real* weights = taught.weights[usize(t)].value().data;
      double place = 0;
      for (Index i = 0; i < positions; ++i) {
        const auto w = static_cast<double>(weights[i]);
        looked[usize(i)] += w;
        place += static_cast<double>(i) * w;
      }
      if (t > 0 && place >= before) ++forwards;
      before = place;
    }
    Shape shape;
    double covered = 0;
    for (Index i = 0; i < words; ++i) covered += std::min(1.0, looked[usize(i)]);
    if (words > 0) shape.coverage = covered / static_cast<double>(words);
    if (steps > 1) shape.monotonicity = forwards / static_cast<double>(steps - 1);
    if (symbols && steps > 0) shape.end_mass = looked.back() / static_cast<double>(steps);
    return shape;
  }

  Index sentences_;
};
SOFTALIGN_DIAGNOSTIC("attention_shape",
                     AttentionShape,
                     "coverage, monotonicity and mass on </s> of attention's weights");

}  // namespace
}  // namespace softalign
