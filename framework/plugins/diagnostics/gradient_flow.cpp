// Measures how far the gradient of a sentence's loss reaches back into its source (Bengio et al. 1994; Pascanu et al.
// 2013): |dL / dx_i|, L = -log p(target | source) in nats, for x_i the embedding of source symbol i, or the
// annotation h_i of the last layer, including the gradient through the recurrence from later annotations. Means
// over sentences, by distance in steps from the source's end (</s> has 0), and by tenths of the source from its
// beginning. far_to_near: the mean norm in the first quarter of a sentence divided by that in its last quarter,
// as a geometric mean over sentences: 1 if both ends are equal.
#include <cmath>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

// Adds the square of the norm of each row of dx [1,S,..].
void add_squares(Var x, std::vector<double>& squares) {
  if (!x || !x.needs_gradient()) return;
  const View dx = x.gradient();
  const Index width = dx.size() / std::ssize(squares);
  for (std::size_t i = 0; i < squares.size(); ++i)
    for (Index u = 0; u < width; ++u) {
      const auto d = static_cast<double>(dx.data[static_cast<Index>(i) * width + u]);
      squares[i] += d * d;
    }
}

class GradientFlow final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    Index longest = 100;
    template <class V>
    void describe(V& v) {
      DiagnosticOptions::describe(v);
      v("longest", longest, "number of distances, from 0 steps", between(1, kLongestSentence));
    }
  };
  explicit GradientFlow(const Options& options) : options_(options) {}

  bool looks(Moment moment, const Split&) const override { return moment != Moment::end; }

  std::vector<FoundArray> arrays() const override {
    std::vector<FoundArray> all;
    for (const auto& [name, whose] : {std::pair{"embedding", "of source embeddings"},
                                      std::pair{"annotation", "of annotations"}}) {
      const std::string of = name, norm = std::string("norm of the loss gradient ") + whose;
      all.push_back({of + "_by_distance", norm, "1", {"distance"}});
      all.push_back({of + "_by_tenth", norm, "1", {"tenth"}});
      all.push_back({of + "_far_to_near",
                     norm + ": first quarter of the source to its last, 1 where they are equal"});
    }
    return all;
  }

  double bytes(const Model& model, const DataOutline::SplitOutline&, int threads) const override {
    return sizeof(real) * static_cast<double>(threads * model.parameters().flat_size());
  }

  Findings look(const Probed& probed) const override {
    const auto sentences =
        of_each_sentence(probed, options_.sentences, [&](Index, const Batch& batch) {
          return norms(probed.model, batch);
        });
    Findings found{{{"distance", "steps to the end of the source", {}},
                    {"tenth", "part of the source, from its beginning", {}}},
                   {}};
    for (Index d = 0; d < options_.longest; ++d)
      found.axes[0].places.push_back(static_cast<double>(d));
    for (int t = 0; t < kTenths; ++t) found.axes[1].places.push_back((t + 0.5) / kTenths);
    add(found, "embedding", sentences, &Norms::embedding);
    add(found, "annotation", sentences, &Norms::annotation);
    return found;
  }

 private:
  static constexpr int kTenths = 10;

  struct Norms {  // of a sentence, [S]; may be empty
    std::vector<double> embedding, annotation;
  };

  static Norms norms(const Model& model, const Batch& batch) {
    std::vector<real> gradients(usize(model.parameters().flat_size()));
    Tape tape(Tape::Mode::train, gradients.data());
    const Model::Forward forward = model.forward(tape, batch, 1);
    const Model::Source& source = forward.source;
    const auto positions = usize(forward.positions[0]);
    State parts = source.annotations.parts;
    if (parts.empty()) parts.push(source.annotations.states);
    for (Var part : parts) tape.keep_gradient(part);
    if (source.embedded) tape.keep_gradient(source.embedded);
    tape.backward(forward.losses.loss);
    Norms norms;
    norms.annotation.resize(positions);
    for (Var part : parts) add_squares(part, norms.annotation);
    if (source.embedded && source.embedded.needs_gradient()) {
      norms.embedding.resize(usize(batch.source_lengths[0]));
      add_squares(source.embedded, norms.embedding);
    }
    for (double& square : norms.embedding) square = std::sqrt(square);
    for (double& square : norms.annotation) square = std::sqrt(square);
    return norms;
  }

  void add(Findings& found,
           const std::string& name,
           const std::vector<Norms>& sentences,
           std::vector<double> Norms::*which) const {
    std::vector<double> by_distance(usize(options_.longest)), by_tenth(usize(kTenths));
    std::vector<double> at_distance(by_distance.size()), at_tenth(by_tenth.size());  // counts
    double logarithms = 0, count = 0;
    for (const Norms& sentence : sentences) {
      const std::vector<double>& norms = sentence.*which;
      const auto length = norms.size();
      double first = 0, last = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t distance = length - 1 - i, tenth = i * kTenths / length;
        if (distance < by_distance.size()) {
          by_distance[distance] += norms[i];
          ++at_distance[distance];
        }
        by_tenth[tenth] += norms[i];
        ++at_tenth[tenth];
        if (4 * i < length) first += norms[i];
        if (4 * distance < length) last += norms[i];
      }
      if (length < 4 || first == 0 || last == 0) continue;
      logarithms += exact::log(first / last);
      ++count;
    }
    const auto divide = [](std::vector<double>& sums, const std::vector<double>& counts) {
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = counts[i] == 0 ? kUndefined : sums[i] / counts[i];
    };
    divide(by_distance, at_distance);
    divide(by_tenth, at_tenth);
    found.values[name + "_by_distance"] = by_distance;
    found.values[name + "_by_tenth"] = by_tenth;
    found.values[name + "_far_to_near"] = {count == 0 ? kUndefined
                                                      : exact::exp(logarithms / count)};
  }

  Options options_;
};
SOFTALIGN_DIAGNOSTIC("gradient_flow",
                     GradientFlow,
                     "how far the loss gradient reaches back into the source, while it learns");

}  // namespace
}  // namespace softalign
