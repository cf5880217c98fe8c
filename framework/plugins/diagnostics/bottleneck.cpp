// Information about the source in the vectors that the decoder gets: for each position, the accuracy of a
// linear probe (ridge regression, eval/linear_probe.hpp) that predicts the source word there from the decoder's
// first state, all its arrays concatenated; and from the context with the largest weight at this position,
// among all steps of the reference. A context is the average of annotations with the recorded weights. The
// probe is trained on every second sentence and tested on the others; most_frequent is the accuracy of always
// guessing the word that is most frequent at the position. Singular values and effective rank (Roy and Vetterli
// 2007) of both show how many directions they use.

#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/eval/linear_probe.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/seq/cost.hpp"

namespace softalign {
namespace {

constexpr Index kFewest = 10;  // tested sentences for an accuracy

class Bottleneck final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    Index longest = 40;
    double ridge = 0.01;
    bool each_epoch = false;
    bool vectors = false;
    Options() { sentences = 400; }
    template <class V>
    void describe(V& v) {
      v("sentences",
        sentences,
        "number of sentences of a split that it reads, from the first; memory grows with their "
        "square",
        between(1, 5000));
      v("longest", longest, "last position that is probed", between(1, kLongestSentence));
      v("ridge",
        ridge,
        "penalty, in units of the vectors' mean squared length",
        between(1e-9, 1e9));  // below, rounding decides
      v("each_epoch", each_epoch, "true: also after each epoch, on dev sentences");
      v("vectors", vectors, "true: also records the first states themselves");
    }
  };
  explicit Bottleneck(const Options& options) : options_(options) {}

  bool looks(Moment moment, const Split& split) const override {
    return moment == Moment::end ? split.name == "test" : options_.each_epoch;
  }

  void check(const Model& model) const override {
    if (!model.reads_symbols())
      throw SpecError("this model reads frames, but the probe predicts source words");
  }

  std::vector<FoundArray> arrays() const override {
    std::vector<FoundArray> all{{"most_frequent",
                                 "how often the most frequent word of the position is right",
                                 "percent",
                                 {"position"}}};
    const auto add = [&](const std::string& name, const std::string& from, const std::string& of) {
      const std::string axis = name + "_direction";
      all.push_back({name + "_accuracy",
                     "how often a linear probe finds the source's word in " + from,
                     "percent",
                     {"position"}});
      all.push_back({name + "_singular_values",
                     "standard deviation of " + of + " along its principal directions",
                     "1",
                     {axis}});
      all.push_back(
          {name + "_effective_rank", "effective rank of " + of + " (Roy and Vetterli 2007)"});
    };
    add("state", "the decoder's first state", "the decoder's first state");
    add("context", "the context that looked there most", "contexts");
    if (options_.vectors)
      all.push_back({"states", "the decoder's first state", "1", {"sentence", "unit"}});
    return all;
  }

  double bytes(const Model& model, const DataOutline::SplitOutline& split, int) const override {
    const UncomputedProducts products;
    const Index first = 0;
    const Seen one =
        see(model, make_batch(equal_sentences(1, 2, 2), {&first, 1}, model.batch_parts()));
    const auto size = [](const auto& all) { return static_cast<double>(all.size()); };
    const double n = static_cast<double>(std::min(options_.sentences, split.examples)),
                 state = size(one.state),
                 context = one.contexts.empty() ? 0 : size(one.contexts[0]),
                 width = std::max(state, context), least = std::min(n, width);
    // All sentences, the states again, and what a probe takes or the directions do.
    return sizeof(double) * n *
           (2 * state + split.source.mean * context +
            std::max(2 * width + n / 2, 3 * width + 2 * least * least / n));
  }

  Findings look(const Probed& probed) const override {
    const auto sentences =
        of_each_sentence(probed, options_.sentences, [&](Index, const Batch& batch) {
          return see(probed.model, batch);
        });
    Findings found{{{"position", "position in the source, from 0", {}}}, {}};
    for (Index p = 0; p < options_.longest; ++p)
      found.axes[0].places.push_back(static_cast<double>(p));
    Vectors states;
    std::vector<const std::vector<double>*> contexts;
    for (const Seen& one : sentences) {
      append(states, one.state);
      for (const std::vector<double>& context : one.contexts) contexts.push_back(&context);
    }
    if (states.width > 0) {
      add_accuracy(found, "state", sentences);
      add_directions(found, "state", states);
    }
    if (!contexts.empty()) {
      // Neighbouring contexts are alike: some of each sentence are enough.
      add_accuracy(found, "context", sentences);
      add_directions(found, "context", spread(contexts, options_.sentences));
    }
    if (options_.vectors && states.width > 0) {
      found.axes.push_back({"sentence", "sentence, of those seen", numbered(states.count())});
      found.axes.push_back({"unit", "of the state's arrays side by side", numbered(states.width)});
      found.values["states"] = states.numbers;
    }
    return found;
  }

 private:
  struct Seen {  // of a sentence
    std::vector<Index> words;
    std::vector<double> state;                  // empty: the decoder begins with none
    std::vector<std::vector<double>> contexts;  // by position; empty: nothing to look with
  };

  static std::vector<double> numbered(Index count) {
    std::vector<double> all;
    for (Index i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
    return all;
  }

  static void append(Vectors& vectors, const std::vector<double>& one) {
    if (!one.empty()) vectors.width = std::ssize(one);
    vectors.numbers.insert(vectors.numbers.end(), one.begin(), one.end());
  }

  static Vectors spread(const std::vector<const std::vector<double>*>& all, Index most) {
    const Index count = std::min(std::ssize(all), most);
    Vectors some;
    for (Index i = 0; i < count; ++i) append(some, *all[usize(i * std::ssize(all) / count)]);
    return some;
  }

  static Seen see(const Model& model, const Batch& batch) {
    Tape tape(Tape::Mode::infer);
    const Model::Taught taught = model.teach(tape, batch, {});
    Seen seen;
    for (Index i = 0; i + 1 < batch.source_lengths[0]; ++i)
      seen.words.push_back(batch.source[usize(i)]);
    for (Var array : taught.source.state)
      seen.state.insert(seen.state.end(), array.value().begin(), array.value().end());
    if (taught.weights.empty()) return seen;
    const View values = taught.source.annotations.averaged().value();  // [1,S,D]
    const Index width = values.shape[2];
    for (std::size_t i = 0; i < seen.words.size(); ++i) {
      const Index place = model.encoder().position_of(static_cast<Index>(i));
      std::size_t most = 0;
      for (std::size_t t = 1; t < taught.weights.size(); ++t)
        if (taught.weights[t].value().data[place] > taught.weights[most].value().data[place])
          most = t;
      std::vector<double>& context = seen.contexts.emplace_back(usize(width));
      const View weights = taught.weights[most].value();
      for (Index s = 0; s < taught.positions[0]; ++s)
        for (Index u = 0; u < width; ++u)
          context[usize(u)] += static_cast<double>(weights.data[s]) *
                               static_cast<double>(values.data[s * width + u]);
    }
    return seen;
  }

  void add_accuracy(Findings& found,
                    const std::string& name,
                    const std::vector<Seen>& sentences) const {
    std::vector<double> right, frequent;
    for (Index p = 0; p < options_.longest; ++p) {
      Vectors vectors;
      std::vector<Index> words;
      for (const Seen& one : sentences) {
        if (p >= std::ssize(one.words)) continue;
        append(vectors, name == "state" ? one.state : one.contexts[usize(p)]);
        words.push_back(one.words[usize(p)]);
      }
      const ProbeCounts counts = probe_classes(vectors, words, options_.ridge);
      const auto share = [&](Index count) {
        return counts.all < kFewest
                   ? kUndefined
                   : 100 * static_cast<double>(count) / static_cast<double>(counts.all);
      };
      right.push_back(share(counts.right));
      frequent.push_back(share(counts.most_frequent));
    }
    found.values[name + "_accuracy"] = right;
    found.values["most_frequent"] = frequent;
  }

  static void add_directions(Findings& found, const std::string& name, const Vectors& vectors) {
    const std::vector<double> values = singular_values(vectors);
    found.axes.push_back(
        {name + "_direction", "principal direction, from 0", numbered(std::ssize(values))});
    found.values[name + "_singular_values"] = values;
    found.values[name + "_effective_rank"] = {effective_rank(values)};
  }

  Options options_;
};
SOFTALIGN_DIAGNOSTIC("bottleneck",
                     Bottleneck,
                     "what a linear probe finds of the source in the first state and in contexts");

}  // namespace
}  // namespace softalign
