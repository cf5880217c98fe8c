// The noise of the gradient of an attention that samples a position (Xu et al. 2015, section 4.1), and the error
// of the gradient of an attention that averages. All sequences s of positions, one for each target symbol, are
// enumerated, p(s) = prod_t w_t[s_t], teacher-forced and without dropout, so the numbers are exact. L(s) = -log
// p(y | s) in nats, summed over a sentence's symbols. The true gradient is that of E[L] in all parameters,
//   G = E[g(s)],  g(s) = dL(s) + (L(s) - b) dlog p(s)  (equations 11, 12), the same for any baseline b.
// For one draw of s, as sums over sentences divided by the sum of |G|^2:
//   variance_none      E|g - G|^2, b = 0
//   variance_expected  b = E[L] of the sentence
//   variance_best      b = E[(dL + L dlog p) . dlog p] / E|dlog p|^2, the constant that minimises it
//   variance_context   of dL(s) alone, which is biased
//   context_error      |E[dL] - G|^2, the squared bias of dL(s), which the second term of g(s) removes
//   average_error      |G' - G|^2, G' the gradient of the loss of soft attention, L of contexts averaged with w
// average_cosine: of G' and G, the mean over sentences. expected_loss, average_loss: E[L] and L of averaged contexts,
// nats per symbol. gradient_norm: the root mean square of |G|. sequences: mean number per sentence. sentences: number
// measured. Positions with a weight below 1e-30 are never drawn. Sentences with more than `most` sequences are skipped.
#include <array>
#include <cmath>

#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

constexpr real kNeverDrawn = real(1e-30);

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double squared_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

void add(std::vector<double>& to, double factor, const std::vector<double>& x) {
  to.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += factor * x[i];
}

struct Draw {
  double probability = 1;
  double loss = 0;
  std::vector<double> of_loss, of_log_p;  // gradients of all parameters
};

// Returns the gradients of all parameters and zeroes the buffer, to which a forward pass already adds the projection's.
std::vector<double> backward(Tape& tape, Var loss, std::vector<real>& gradients) {
  tape.backward(loss);
  tape.reset();
  std::vector<double> all(gradients.begin(), gradients.end());
  std::ranges::fill(gradients, real{0});
  return all;
}

double loss_of(const Model::Forward& forward) {
  double loss = 0;
  for (const real nll : forward.losses.nll) loss += static_cast<double>(nll);
  return loss;
}

class GradientVariance final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    Index most = 1000;
    template <class V>
    void describe(V& v) {
      DiagnosticOptions::describe(v);
      v("most",
        most,
        "largest number of position sequences of a sentence, S^T for S annotations and T target "
        "symbols; sentences with more are skipped",
        between(1, 1000000));
    }
  };
  explicit GradientVariance(const Options& options) : options_(options) {}

  bool looks(Moment moment, const Split&) const override { return moment != Moment::end; }
  void check(const Model& model) const override {
    if (!model.weights_can_change() || !model.learns_weights() || !model.weights_sum_to_one())
      throw SpecError(
          "this model has no attention from whose weights a position can be drawn; it needs "
          "learned weights that sum to 1, like those of global or hard");
  }

  std::vector<FoundArray> arrays() const override {
    std::vector<FoundArray> all;
    for (const Ratio& one : kRatios) all.push_back({one.name, one.what, one.units});
    all.push_back({"gradient_norm", "norm of the gradient G of a sentence's expected loss"});
    all.push_back({"sentences", "sentences that were short enough"});
    return all;
  }

  double bytes(const Model& model,
               const DataOutline::SplitOutline& split,
               int threads) const override {
    const Index shortest = model.encoder().positions(split.source.shortest + 1);
    const bool any = sequences_of(shortest, split.target.shortest + 1) > 0;
    // The gradients of all parameters, and five vectors of their size.
    return static_cast<double>(threads * model.parameters().flat_size()) *
           (sizeof(real) + (any ? 5 * sizeof(double) : 0));
  }

  Findings look(const Probed& probed) const override {
    const auto sentences =
        of_each_sentence(probed, options_.sentences, [&](Index, const Batch& batch) {
          return see(probed.model, batch);
        });
    Seen all{};
    for (const Seen& one : sentences)
      for (std::size_t i = 0; i < kSums; ++i) all[i] += one[i];
    Findings found;
    for (const Ratio& one : kRatios)
      found.values[one.name] = {all[one.of] == 0 ? kUndefined : all[one.sum] / all[one.of]};
    found.values["gradient_norm"] = {std::sqrt(all[kSquares] / all[kSentences])};
    found.values["sentences"] = {all[kSentences]};
    return found;
  }

 private:
  // Indices of the values of a sentence, or of their sums over sentences.
  enum Sum : std::size_t {
    kSentences,
    kSymbols,
    kSequences,
    kSquares,  // |G|^2
    kNone,     // variances
    kExpected,
    kBest,
    kContext,
    kContextError,
    kAverageError,
    kAverageCosine,
    kLoss,
    kAverageLoss,
    kSums
  };
  using Seen = std::array<double, kSums>;

  struct Ratio {
    const char* name;
    const char* what;
    const char* units;
    Sum sum, of;
  };
  static constexpr Ratio kRatios[] = {
      {"variance_none", "variance of one draw, no baseline, to |G|^2", "1", kNone, kSquares},
      {"variance_expected",
       "variance of one draw, baseline E[L], to |G|^2",
       "1",
       kExpected,
       kSquares},
      {"variance_best", "variance of one draw, best baseline, to |G|^2", "1", kBest, kSquares},
      {"variance_context",
       "variance of one draw, contexts alone, to |G|^2",
       "1",
       kContext,
       kSquares},
      {"context_error", "squared error, contexts alone, to |G|^2", "1", kContextError, kSquares},
      {"average_error", "squared error of averaging, to |G|^2", "1", kAverageError, kSquares},
      {"average_cosine", "cosine of averaging's gradient with G", "1", kAverageCosine, kSentences},
      {"expected_loss", "expected loss of drawn positions", "nats", kLoss, kSymbols},
      {"average_loss", "loss of averaged contexts", "nats", kAverageLoss, kSymbols},
      {"sequences", "sequences of positions of a sentence", "1", kSequences, kSentences}};

  // Returns S^T, or 0 if it exceeds `most`.
  Index sequences_of(Index positions, Index steps) const {
    Index all = 1;
    for (Index t = 0; t < steps; ++t)
      if ((all *= positions) > options_.most) return 0;
    return all;
  }

  static Draw drawn(const Model& model,
                    const Batch& batch,
                    const std::vector<Index>& positions,
                    std::vector<real>& gradients) {
    const ChangeWeights look = [&](Index step, std::span<real> weights) {
      std::ranges::fill(weights, real{0});
      weights[usize(positions[usize(step)])] = 1;
    };
    const Inspection inspection{.change = &look, .distribution = true};
    Draw draw;
    Tape tape(Tape::Mode::train, gradients.data());
    const Model::Taught taught = model.teach(tape, batch, {}, inspection);
    for (std::size_t t = 0; t < positions.size(); ++t) {
      const real w = taught.weights[t].value().data[positions[t]];
      if (w < kNeverDrawn) {
        draw.probability = 0;
        return draw;
      }
      draw.probability *= static_cast<double>(w);
    }
    const std::vector<real> ones(positions.size(), real{1});
    Var log_p = log_likelihood(stack_steps(taught.weights), positions.data(), ones.data());
    draw.of_log_p = backward(tape, log_p, gradients);
    const Model::Forward forward = model.forward(tape, batch, 1, inspection);
    draw.loss = loss_of(forward);
    draw.of_loss = backward(tape, forward.losses.loss, gradients);
    return draw;
  }

  Seen see(const Model& model, const Batch& batch) const {
    std::vector<real> gradients(usize(model.parameters().flat_size()));
    const auto steps = usize(batch.target_lengths[0]);
    Tape tape(Tape::Mode::train, gradients.data());
    const Model::Forward averaged = model.forward(tape, batch, 1, {.distribution = true});
    const Index width = averaged.positions[0];
    const Index sequences = sequences_of(width, batch.target_lengths[0]);
    Seen seen{};
    if (sequences == 0) return seen;
    seen[kSentences] = 1;
    seen[kSymbols] = static_cast<double>(steps);
    seen[kSequences] = static_cast<double>(sequences);
    seen[kAverageLoss] = loss_of(averaged);
    const std::vector<double> average = backward(tape, averaged.losses.loss, gradients);

    std::vector<double> through_context, whole;  // E[dL], G
    double of_whole = 0, of_context = 0;         // E|g|^2 without a baseline, E|dL|^2
    double with_log_p = 0, of_log_p = 0;         // E[g . dlog p], E|dlog p|^2
    std::vector<Index> positions(steps);
    for (Index sequence = 0; sequence < sequences; ++sequence) {
      for (Index rest = sequence; Index & position : positions) {
        position = rest % width;
        rest /= width;
      }
      Draw draw = drawn(model, batch, positions, gradients);
      if (draw.probability == 0) continue;
      const double p = draw.probability;
      seen[kLoss] += p * draw.loss;
      add(through_context, p, draw.of_loss);
      of_context += p * dot(draw.of_loss, draw.of_loss);
      std::vector<double>& g = draw.of_loss;
      add(g, draw.loss, draw.of_log_p);
      add(whole, p, g);
      of_whole += p * dot(g, g);
      with_log_p += p * dot(g, draw.of_log_p);
      of_log_p += p * dot(draw.of_log_p, draw.of_log_p);
    }
    seen[kSquares] = dot(whole, whole);
    const auto variance = [&](double baseline) {
      return of_whole - 2 * baseline * with_log_p + baseline * baseline * of_log_p - seen[kSquares];
    };
    seen[kNone] = variance(0);
    seen[kExpected] = variance(seen[kLoss]);
    seen[kBest] = variance(of_log_p == 0 ? 0 : with_log_p / of_log_p);
    seen[kContext] = of_context - dot(through_context, through_context);
    seen[kContextError] = squared_distance(through_context, whole);
    seen[kAverageError] = squared_distance(average, whole);
    seen[kAverageCosine] =
        dot(average, whole) / std::sqrt(dot(average, average) * dot(whole, whole));
    return seen;
  }

  Options options_;
};
SOFTALIGN_DIAGNOSTIC("gradient_variance",
                     GradientVariance,
                     "noise of the gradient of drawn positions, error of averaged ones, exactly");

}  // namespace
}  // namespace softalign
