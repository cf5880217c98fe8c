// Measures whether the alignment matters to the trained model. Teacher-forced, with other weights at all steps and the
// rest of the model unchanged:
//   permuted  the weights of each step on randomly permuted positions (Jain and Wallace 2019, section 4.2.1)
//   uniform   all weights equal (Wiegreffe and Pinter 2019, section 3.2, without training again)
//   erased    the largest weight set to 0, the others scaled to the previous sum; erased_other: a random other weight
//             instead (Serrano and Smith 2019, section 4). If one position has all the weight, as with hard or
//             monotonic attention, there is nothing to scale: no annotation is read, and the context is 0
// For each: distance, the total variation distance (1/2) sum_v |p(v) - p'(v)| between the model's distributions
// with its own and with these weights, as the mean over symbols (of the medians over permutations);
// accuracy and loss of the predictions; flips, how often the most probable symbol changes. gradient_agreement:
// Kendall's tau-b between the weights of a step and |g_i · x_i|, x_i the embedding of source symbol i and g_i
// the gradient there of -log p of the step's symbol (Jain and Wallace 2019, section 4.1), the mean over steps.
#include <algorithm>

#include "framework/base/elementary.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  void add(const Mean& other) {
    sum += other.sum;
    count += other.count;
  }
  double value() const { return count == 0 ? kUndefined : sum / count; }
};

// The predictions of a model for a sentence, [T,V].
struct Predicted {
  Index steps = 0, symbols = 0;
  std::vector<double> probabilities;
  std::vector<double> nll;  // [T] -log p of the reference's symbols
  std::span<const double> at(Index t) const {
    return std::span(probabilities).subspan(usize(t * symbols), usize(symbols));
  }
  Token best(Index t) const {
    return static_cast<Token>(std::ranges::max_element(at(t)) - at(t).begin());
  }
};

Predicted predict(const Model& model, const Batch& batch, const ChangeWeights* change) {
  Tape tape(Tape::Mode::infer);
  const Model::Taught taught = model.teach(tape, batch, {}, {.change = change});
  const View logits = model.output_layer().logits(taught.output()).value();  // [T,1,V]
  Predicted predicted{batch.target_lengths[0], logits.shape.last(), {}, {}};
  predicted.probabilities.reserve(usize(predicted.steps * predicted.symbols));
  for (Index t = 0; t < predicted.steps; ++t) {
    const real* row = logits.data + t * predicted.symbols;
    const auto largest = static_cast<double>(*std::max_element(row, row + predicted.symbols));
    double sum = 0;
    const std::size_t from = predicted.probabilities.size();
    for (Index v = 0; v < predicted.symbols; ++v) {
      predicted.probabilities.push_back(exact::exp(static_cast<double>(row[v]) - largest));
      sum += predicted.probabilities.back();
    }
    for (std::size_t v = from; v < predicted.probabilities.size(); ++v)
      predicted.probabilities[v] /= sum;
    const Token target = batch.target_out[usize(t)];
    predicted.nll.push_back(exact::log(sum) - (static_cast<double>(row[target]) - largest));
  }
  return predicted;
}

double distance(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (std::size_t v = 0; v < p.size(); ++v) sum += std::abs(p[v] - q[v]);
  return sum / 2;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Kendall's tau-b; NaN if all values of a or all values of b are equal.
double kendall(const std::vector<double>& a, const std::vector<double>& b) {
  double together = 0, of_a = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int x = (a[i] > a[j]) - (a[i] < a[j]), y = (b[i] > b[j]) - (b[i] < b[j]);
      together += x * y;
      of_a += x != 0;
      of_b += y != 0;
    }
  return of_a == 0 || of_b == 0 ? kUndefined : together / std::sqrt(of_a * of_b);
}

// Sets the weight at `place` to 0 and scales the others to the previous sum.
void erase(std::span<real> weights, std::size_t place) {
  real all = 0, rest = 0;
  for (const real w : weights) all += w;
  weights[place] = 0;
  for (const real w : weights) rest += w;
  if (rest > 0)
    for (real& w : weights) w *= all / rest;
}

class Faithfulness final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    Index permutations = 10;
    bool gradients = true;
    template <class V>
    void describe(V& v) {
      DiagnosticOptions::describe(v);
      v("permutations",
        permutations,
        "number of permutations of the weights of each sentence",
        between(1, 1000));
      v("gradients",
        gradients,
        "true: also gradient times input, which takes a backward pass for each target symbol");
    }
  };
  explicit Faithfulness(const Options& options) : options_(options) {}

  bool looks(Moment moment, const Split& split) const override {
    return moment == Moment::end && split.name == "test";
  }
  void check(const Model& model) const override {
    if (!model.weights_can_change())
      throw SpecError(
          "this model has no attention whose weights can be replaced; use a decoder with an "
          "attention that averages annotations with its weights");
  }

  std::vector<FoundArray> arrays() const override {
    std::vector<FoundArray> all;
    for (std::size_t c = 0; c < kChanges; ++c) {
      const std::string name = kNames[c], with = std::string(" with ") + kTexts[c];
      if (c != kOwn) {
        all.push_back({name + "_distance", "total variation distance" + with});
        all.push_back({name + "_flips", "other most probable symbols" + with, "percent"});
      }
      all.push_back({name + "_accuracy", "token accuracy" + with, "percent"});
      all.push_back({name + "_loss", "-log p of the reference's symbols" + with, "nats"});
    }
    if (options_.gradients)
      all.push_back({"gradient_agreement", "Kendall's tau-b of weights and gradient times input"});
    return all;
  }

  double bytes(const Model& model,
               const DataOutline::SplitOutline& split,
               int threads) const override {
    // Two distributions and the logits of each target symbol; later, the gradients of all parameters.
    const Index copied = model.output_layer().copies() ? split.source.longest + 1 : 0;
    const auto symbols = static_cast<double>((split.target.longest + 1) *
                                             (model.target_symbols() + copied)),
               parameters = static_cast<double>(model.parameters().flat_size());
    return threads * std::max(symbols * (2 * sizeof(double) + sizeof(real)),
                              options_.gradients ? parameters * sizeof(real) : 0);
  }

  Findings look(const Probed& probed) const override {
    const auto sentences =
        of_each_sentence(probed, options_.sentences, [&](Index i, const Batch& batch) {
          return see(probed, i, batch);
        });
    Seen all;
    for (const Seen& one : sentences) {
      for (std::size_t c = 0; c < kChanges; ++c) all.changed[c].add(one.changed[c]);
      all.agreement.add(one.agreement);
    }
    Findings found;
    for (std::size_t c = 0; c < kChanges; ++c) {
      const std::string name = kNames[c];
      const Measured& m = all.changed[c];
      if (c != kOwn) {
        found.values[name + "_distance"] = {m.distance.value()};
        found.values[name + "_flips"] = {100 * m.flips.value()};
      }
      found.values[name + "_accuracy"] = {100 * m.right.value()};
      found.values[name + "_loss"] = {m.nll.value()};
    }
    if (options_.gradients) found.values["gradient_agreement"] = {all.agreement.value()};
    return found;
  }

 private:
  static constexpr std::size_t kOwn = 0, kPermuted = 1, kUniform = 2, kErased = 3, kOther = 4,
                               kChanges = 5;
  static constexpr const char* kNames[] = {"own", "permuted", "uniform", "erased", "erased_other"};
  static constexpr const char* kTexts[] = {"its own weights",
                                           "permuted weights",
                                           "equal weights",
                                           "the largest weight erased",
                                           "another weight erased"};

  struct Measured {
    Mean distance, flips, right, nll;
    void add(const Measured& other) {
      distance.add(other.distance);
      flips.add(other.flips);
      right.add(other.right);
      nll.add(other.nll);
    }
  };
  struct Seen {
    std::array<Measured, kChanges> changed;
    Mean agreement;
  };

  Seen see(const Probed& probed, Index sentence, const Batch& batch) const {
    const RandomStream random = RandomStream(probed.seed, "diagnostics/faithfulness")
                                    .within(static_cast<std::uint64_t>(sentence), 0);
    Seen seen;
    const Predicted own = predict(probed.model, batch, nullptr);
    add(seen.changed[kOwn], {compared(own, own, batch)});
    const auto with = [&](const ChangeWeights& change) {
      return compared(own, predict(probed.model, batch, &change), batch);
    };
    std::vector<Compared> permuted;
    for (Index k = 0; k < options_.permutations; ++k)
      permuted.push_back(with([&](Index step, std::span<real> weights) {
        const std::vector<real> before(weights.begin(), weights.end());
        const auto round = static_cast<std::uint64_t>(step * options_.permutations + k);
        const std::vector<Index> places = random.permutation(std::ssize(weights), round);
        for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = before[usize(places[i])];
      }));
    add(seen.changed[kPermuted], permuted);
    const Compared uniform = with([](Index, std::span<real> weights) {
      std::ranges::fill(weights, real{1} / static_cast<real>(weights.size()));
    });
    add(seen.changed[kUniform], {uniform});
    const Compared erased = with([](Index, std::span<real> weights) {
      erase(weights, usize(std::ranges::max_element(weights) - weights.begin()));
    });
    add(seen.changed[kErased], {erased});
    const Compared other = with([&](Index step, std::span<real> weights) {
      if (weights.size() < 2) return;
      const auto top = usize(std::ranges::max_element(weights) - weights.begin());
      const std::size_t place =
          random.below(static_cast<std::uint32_t>(weights.size() - 1),
                       static_cast<std::uint64_t>(step),
                       static_cast<std::uint64_t>(batch.target_steps * options_.permutations));
      erase(weights, place < top ? place : place + 1);
    });
    add(seen.changed[kOther], {other});
    if (options_.gradients) agree(seen.agreement, probed.model, batch);
    return seen;
  }

  // The results with other weights by target symbol [T]; distributions are not stored.
  struct Compared {
    std::vector<double> distance, flipped, right, nll;
  };

  static Compared compared(const Predicted& own, const Predicted& changed, const Batch& batch) {
    Compared all{{}, {}, {}, changed.nll};
    for (Index t = 0; t < own.steps; ++t) {
      all.distance.push_back(distance(own.at(t), changed.at(t)));
      all.flipped.push_back(changed.best(t) != own.best(t));
      all.right.push_back(changed.best(t) == batch.target_out[usize(t)]);
    }
    return all;
  }

  static void add(Measured& to, const std::vector<Compared>& all) {
    for (std::size_t t = 0; t < all.front().nll.size(); ++t) {
      std::vector<double> distances;
      for (const Compared& one : all) {
        distances.push_back(one.distance[t]);
        to.flips.add(one.flipped[t]);
        to.right.add(one.right[t]);
        to.nll.add(one.nll[t]);
      }
      to.distance.add(median(std::move(distances)));
    }
  }

  // Adds gradient_agreement of each step, if annotations are source symbols with embeddings.
  static void agree(Mean& to, const Model& model, const Batch& batch) {
    std::vector<real> gradients(usize(model.parameters().flat_size()));
    for (Index t = 0; t < batch.target_lengths[0]; ++t) {
      Batch one = batch;
      for (Index other = 0; other < batch.target_steps; ++other)
        if (other != t) one.target_out[usize(other)] = -1;
      Tape tape(Tape::Mode::train, gradients.data());
      const Model::Forward forward = model.forward(tape, one, 1);
      Var embedded = forward.source.embedded;  // [1,S,E]
      const Index positions = forward.positions[0];
      if (!embedded || !embedded.needs_gradient() || positions != batch.source_lengths[0]) return;
      tape.keep_gradient(embedded);
      tape.backward(forward.losses.loss);
      const View x = embedded.value(), g = embedded.gradient();
      const Index width = x.shape[2];
      std::vector<double> weights, importance;
      for (Index i = 0; i < positions; ++i) {
        double product = 0;
        for (Index u = 0; u < width; ++u)
          product += static_cast<double>(x.data[i * width + u]) *
                     static_cast<double>(g.data[i * width + u]);
        importance.push_back(std::abs(product));
        weights.push_back(static_cast<double>(forward.weights[usize(t)].value().data[i]));
      }
      if (const double tau = kendall(weights, importance); tau == tau) to.add(tau);
    }
  }

  Options options_;
};
SOFTALIGN_DIAGNOSTIC("faithfulness",
                     Faithfulness,
                     "whether the alignment matters: permuted, uniform, erased weights; gradients");

}  // namespace
}  // namespace softalign
