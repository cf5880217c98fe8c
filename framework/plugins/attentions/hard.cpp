// Hard attention (Xu et al. 2015, section 4.1): in training each step reads one position, drawn from the
// softmax of the energies. The gradient of the expected loss has a second term (equations 11, 12),
//   (nll - b) d log p(positions) - entropy dH,
// where nll is the sentence's negative log-likelihood, and b a moving average of it that reduces the
// variance without adding bias. extra_loss, which treats nll - b as a constant, has this gradient. With
// probability semi_sampling a batch uses the expected context instead (one draw for the batch, as in the
// authors' code); the second term is then only that of the entropy.
//
// From the authors' code: the scale 1/10, the mean over a sentence's symbols as its reward, entropy 0.002,
// decay 0.9. Their RL_sumCost has b - nll; this is nll - b, as in the paper.
#include <cmath>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class Hard final : public ScoredAttention {
 public:
  struct Options : ScoredAttention::Options {
    double semi_sampling = 0.5;
    double entropy = 0.002;
    double reward_scale = 0.1;
    std::string reward = "mean";
    double baseline_decay = 0.9;
    double temperature = 1;
    std::string test = "argmax";
    template <class V>
    void describe(V& v) {
      ScoredAttention::Options::describe(v);
      v("semi_sampling",
        semi_sampling,
        "probability that a batch averages instead of sampling",
        between(0, 1));
      v("entropy", entropy, "factor on the entropy of the weights, in nats per step", at_least(0));
      v("reward_scale", reward_scale, "factor on the reinforcement's gradient", at_least(0));
      v("reward",
        reward,
        "log-probability of a sentence: the mean over its symbols, or their sum (unbiased at scale "
        "1)",
        one_of("mean", "sum"));
      v("baseline_decay", baseline_decay, "b <- decay b + (1 - decay) reward", fraction());
      v("temperature", temperature, "divisor of the energies", positive());
      v("test", test, "how it attends when not training", one_of("argmax", "expectation"));
    }
  };

  Hard(const Parameters& p, AttentionSizes sizes, const Options& options)
      : ScoredAttention(p, sizes, options),
        options_(options),
        baseline_(p.add_state("baseline", {1}, init::zeros())),
        positions_(0, "noise/" + p.name_of("positions")),
        semi_(0, "noise/" + p.name_of("semi_sampling")) {}

  ExtraLoss extra_loss(const TaughtSteps& taught) const override {
    Tape& tape = taught.tape;
    if (tape.noise() == nullptr) return {};
    const Index steps = std::ssize(taught.weights), rows = std::ssize(taught.target_lengths);
    Var weights = stack_steps(taught.weights);  // [T,B,S]
    Index* drawn = tape.arena().array_of<Index>(steps * rows);
    View rewards = tape.zeros({steps, rows}), regular = tape.zeros({steps, rows});
    Totals* totals = tape.arena().array_of<Totals>(rows);
    ExtraLoss extra{{}, {totals, usize(rows)}};
    for (Index b = 0; b < rows; ++b) {
      const Index length = taught.target_lengths[usize(b)];
      real nll = 0;
      for (Index t = 0; t < length; ++t) nll += taught.nll[usize(t * rows + b)];
      if (options_.reward == "mean") nll /= static_cast<real>(length);
      const real better = nll + baseline_->value().data[0];  // the baseline averages -nll
      for (Index t = 0; t < length; ++t) {
        rewards.data[t * rows + b] =
            taught.factor * static_cast<real>(options_.reward_scale) * better;
        regular.data[t * rows + b] = -taught.factor * static_cast<real>(options_.entropy);
      }
      totals[b] = {-static_cast<double>(nll), 1};
    }
    extra.loss = entropy(weights, regular.data);
    if (samples(tape)) {
      for (Index t = 0; t < steps; ++t) draw(taught.weights[usize(t)], t, drawn + t * rows);
      extra.loss = extra.loss + log_likelihood(weights, drawn, rewards.data);
    }
    return extra;
  }

  void after_update(const Totals& totals) override {
    if (totals[1] == 0) return;
    real& b = *baseline_->value().data;
    b = static_cast<real>(options_.baseline_decay * static_cast<double>(b) +
                          (1 - options_.baseline_decay) * totals[0] / totals[1]);
  }

 private:
  Alignment align(const AttentionMemory& memory,
                  Var energies,
                  const AttentionQuery& query) const override {
    Tape& tape = energies.tape();
    Var weights =
        softmax_prefix(static_cast<real>(1 / options_.temperature) * energies, memory.lengths);
    if (tape.noise() == nullptr) {
      if (options_.test == "expectation" || memory.inspection.distribution) return {weights};
      Index* largest = tape.arena().array_of<Index>(weights.shape()[0]);
      for (Index b = 0; b < weights.shape()[0]; ++b) {
        const real* row = weights.value().data + b * weights.shape()[1];
        largest[b] = std::max_element(row, row + weights.shape()[1]) - row;
      }
      return {one_hot(tape, weights.shape(), largest)};
    }
    if (!samples(tape)) return {weights};
    Index* drawn = tape.arena().array_of<Index>(weights.shape()[0]);
    draw(weights, query.step, drawn);
    return {weights, {}, one_hot(tape, weights.shape(), drawn)};
  }

  bool samples(const Tape& tape) const {
    return tape.noise()->stream(semi_).uniform(0) >= options_.semi_sampling;
  }
  // Draws a position for each row of weights [B,S]: the first at which the cumulative weight exceeds a
  // random number from [0, 1). Repeated calls draw the same positions.
  void draw(Var weights, Index step, Index* positions) const {
    const Noise& noise = *weights.tape().noise();
    const RandomStream numbers = noise.stream(positions_);
    const Index size = weights.shape()[1];
    for (Index b = 0; b < weights.shape()[0]; ++b) {
      const real* row = weights.value().data + b * size;
      const auto limit = static_cast<real>(numbers.uniform(0, noise.round(b, step)));
      real sum = 0;
      positions[b] = 0;
      for (Index s = 0; s < size && sum <= limit; ++s) {
        if (row[s] > 0) positions[b] = s;
        sum += row[s];
      }
    }
  }
  static Var one_hot(Tape& tape, const Shape& shape, const Index* positions) {
    View weights = tape.zeros(shape);
    for (Index b = 0; b < shape[0]; ++b) weights.data[b * shape[1] + positions[b]] = 1;
    return tape.constant(weights);
  }

  Options options_;
  Parameter* baseline_;
  RandomStream positions_;
  RandomStream semi_;
};
SOFTALIGN_ATTENTION("hard",
                    Hard,
                    "one position a step, sampled and learned by REINFORCE (Xu et al. 2015)");

}  // namespace
}  // namespace softalign
