// The contract of output layers, checked on a pointer that copies symbols of the source (See et al. 2017).
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/plugin.hpp"
#include "framework/seq/conformance.hpp"

namespace softalign {
namespace {

// p(y) = g softmax(W r + b)_y + (1 - g) sum of the weights of the positions whose symbol is y; g = sigmoid(u · r).
class Pointer final : public OutputLayer {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };
  Pointer(const Parameters& p, const OutputSizes& sizes, const Options&)
      : symbols_(sizes.symbols),
        projection_(p, "projection", sizes.readout, sizes.symbols, sizes.tied),
        gate_(p, "gate", sizes.readout, 1) {}

  State prepare(const OutputInput& in) const override {
    return {projection_(in.readout), sigmoid(gate_(in.readout)), stack_steps(in.weights)};
  }
  void loss(std::span<const OutputRows> parts,
            const Objective& objective,
            const GradientOf&,
            Workers&,
            Arena&) const override {
    const auto smoothing = objective.label_smoothing;
    for (const OutputRows& part : parts)
      for (Index i = 0; i < std::ssize(part.targets); ++i) {
        if (part.targets[usize(i)] < 0) continue;
        const Mixture row(*this, part.inputs, part.source, i);
        std::vector<real> of_log(usize(symbols_), smoothing / static_cast<real>(symbols_));
        of_log[usize(part.targets[usize(i)])] += 1 - smoothing;
        real mean = 0;
        for (const real p : row.all) mean -= std::log(p) / static_cast<real>(symbols_);
        part.nll[i] = -std::log(row.all[usize(part.targets[usize(i)])]);
        if (part.uniform != nullptr) part.uniform[i] = mean;
        part.best[i] = static_cast<Token>(std::ranges::max_element(row.all) - row.all.begin());
        for (real& one : of_log) one *= -objective.factor;
        row.differentiate(of_log.data());
      }
  }
  Var logits(const OutputInput& in) const override {
    const State inputs = prepare(in);
    Tape& tape = in.readout.tape();
    const Index rows = inputs[0].shape().rows();
    const View all = tape.allocate(inputs[0].shape());
    const SourceBatch source = in.memory.source;
    for (Index i = 0; i < rows; ++i)
      std::ranges::transform(Mixture(*this, inputs, source, i).all,
                             all.data + i * symbols_,
                             [](real p) { return std::log(p); });
    return tape.record(all, {inputs[0], inputs[1], inputs[2]}, [=, this](View dlogits) {
      for (Index i = 0; i < rows; ++i)
        Mixture(*this, inputs, source, i).differentiate(dlogits.data + i * symbols_);
    });
  }
  Index multiplications() const override { return 0; }

 private:
  struct Mixture {  // the distribution of row i
    Mixture(const Pointer& layer, const State& of, const SourceBatch& from, Index row)
        : inputs(of),
          source(from),
          i(row),
          symbols(layer.symbols_),
          sentence(row % from.sentences),
          gate(of[1].value().data[row]) {
      const real* logits = inputs[0].value().data + i * symbols;
      real sum = 0;
      for (Index v = 0; v < symbols; ++v) written.push_back(std::exp(logits[v]));
      for (const real one : written) sum += one;
      for (real& one : written) one /= sum;
      for (const real one : written) all.push_back(gate * one);
      for (Index s = 0; s < source.lengths[usize(sentence)]; ++s)
        all[copied(s)] += (1 - gate) * inputs[2].value().data[i * source.positions + s];
    }
    std::size_t copied(Index s) const {
      return usize(source.tokens[usize(sentence * source.positions + s)]);
    }
    // Propagates dlog, the gradient of log p, to the inputs and parameters.
    void differentiate(const real* dlog) const {
      real dgate = 0, mean = 0;
      std::vector<real> dp(usize(symbols));
      for (std::size_t v = 0; v < dp.size(); ++v) {
        dp[v] = dlog[v] / all[v];
        dgate += dp[v] * written[v];
        mean += dp[v] * written[v];
      }
      const View dlogits = inputs[0].gradient(), dgates = inputs[1].gradient(),
                 dweights = inputs[2].gradient();
      for (Index s = 0; s < source.lengths[usize(sentence)]; ++s) {
        const Index at = i * source.positions + s;
        dgate -= dp[copied(s)] * inputs[2].value().data[at];
        if (dweights) dweights.data[at] += dp[copied(s)] * (1 - gate);
      }
      if (dgates) dgates.data[i] += dgate;
      for (std::size_t v = 0; dlogits && v < dp.size(); ++v)
        dlogits.data[usize(i * symbols) + v] += gate * written[v] * (dp[v] - mean);
    }
    const State& inputs;
    const SourceBatch& source;
    Index i, symbols, sentence;
    real gate;
    std::vector<real> written, all;
  };
  Index symbols_;
  Projection projection_;
  Linear gate_;
};
SOFTALIGN_OUTPUT_LAYER("pointer_for_test", Pointer, "copies symbols of the source");

}  // namespace

BOOST_AUTO_TEST_SUITE(output_layers)

BOOST_AUTO_TEST_CASE(a_layer_that_copies_keeps_the_contract) {
  for (const ConformanceResult& result : check_conformance("output_layer", "pointer_for_test"))
    BOOST_TEST(result.passed, result.check << ": " << result.detail);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace softalign
