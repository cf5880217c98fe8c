// Information about the source in the vectors that the decoder reads: for each position, the accuracy of a
// linear probe (ridge regression, eval/linear_probe.hpp) that predicts the source word there from the decoder's
// first state, all its arrays concatenated; and from the context with the largest weight at this position,
// among all steps of the reference. A context is the average of annotations with the recorded weights. The
// probe is trained on every second sentence and tested on the others; most_frequent is the accuracy of always
// guessing the word that is most frequent at the position. state_accuracy_by_taught is the mean over the positions when
// the probe is trained on a part of its sentences: as long as it rises, more sentences are needed. Sentences of one
// length show more, because otherwise a position is at several distances from the end. Singular values and effective
// rank (Roy and Vetterli 2007) of states and contexts show how many directions they use.

#include <cmath>
#include <numeric>
#include <optional>

#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/eval/linear_probe.hpp"
#include "framework/eval/metric.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/seq/cost.hpp"

namespace softalign {
namespace {

constexpr Index kFewest = 10;  // tested sentences that an accuracy needs

class Bottleneck final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    std::string split = "test";
    Index longest = 40;
    double ridge = 0.01;
    bool each_epoch = false;
    bool vectors = false;
    Options() { sentences = 400; }
    template <class V>
    void describe(V& v) {
      v("sentences",
        sentences,
        "number of sentences of the split that it reads, from the first; a probe needs several "
        "times the width of the state",
        between(1, 100'000));
      v("split", split, "sentences that it reads", one_of("test", "dev"));
      v("longest", longest, "last position that is probed", between(1, kLongestSentence));
      v("ridge",
        ridge,
        "penalty, in units of the vectors' mean squared length",
        between(1e-9, 1e9));  // rounding dominates below
      v("each_epoch", each_epoch, "true: also after each epoch, on dev sentences");
      v("vectors", vectors, "true: also records the first states themselves");
    }
  };
  explicit Bottleneck(const Options& options) : options_(options) {}

  bool looks(Moment moment, const Split& split) const override {
    return moment == Moment::end ? split.name == options_.split : options_.each_epoch;
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
    all.push_back({"state_accuracy_by_taught",
                   "mean of state_accuracy over positions, by the sentences that teach the probe",
                   "percent",
                   {"taught"}});
    add("context", "the context that looked there most", "contexts");
    if (options_.vectors)
      all.push_back({"states", "the decoder's first state", "1", {"sentence", "unit"}});
    return all;
  }

  double bytes(const Model& model, const DataOutline::SplitOutline& split, int) const override {
    const UncomputedProducts products;
    const Index first = 0;
    const Seen one =
        see(model, make_batch(equal_sentences(1, 2, 2), {&first, 1}, model.batch_parts())).front();
    const auto size = [](const auto& all) { return static_cast<double>(all.size()); };
    const double n = static_cast<double>(std::min(options_.sentences, split.examples)),
                 state = size(one.state),
                 context = one.contexts.empty() ? 0 : size(one.contexts[0]),
                 width = std::max(state, context), least = std::min(n, width);
    // All sentences, a copy of the states, and the arrays of a probe or of the directions.
    return sizeof(double) * (n * (2 * state + 3 * width) + 3 * least * width) +
           sizeof(float) * n * split.source.mean * context;
  }

  Findings look(const Probed& probed) const override {
    const std::vector<Seen> sentences = see_all(probed);
    Findings found{{{"position", "position in the source, from 0", {}}}, {}};
    for (Index p = 0; p < options_.longest; ++p)
      found.axes[0].places.push_back(static_cast<double>(p));
    Vectors states;
    std::vector<const std::vector<float>*> contexts;
    for (const Seen& one : sentences) {
      append(states, one.state);
      for (const std::vector<float>& context : one.contexts) contexts.push_back(&context);
    }
    if (states.width > 0) {
      add_accuracy(found, "state", sentences);
      add_teaching_curve(found, sentences);
      add_directions(found, "state", states);
    }
    if (!contexts.empty()) {
      // Neighbouring contexts are similar, so some of each sentence are enough.
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
    std::vector<double> state;                 // empty: the decoder has no first state
    std::vector<std::vector<float>> contexts;  // by position; empty: no attention weights
  };

  static std::vector<double> numbered(Index count) {
    std::vector<double> all;
    for (Index i = 0; i < count; ++i) all.push_back(static_cast<double>(i));
    return all;
  }

  template <class T>
  static void append(Vectors& vectors, const std::vector<T>& one) {
    if (!one.empty()) vectors.width = std::ssize(one);
    vectors.numbers.insert(vectors.numbers.end(), one.begin(), one.end());
  }

  static Vectors spread(const std::vector<const std::vector<float>*>& all, Index most) {
    const Index count = std::min(std::ssize(all), most);
    Vectors some;
    for (Index i = 0; i < count; ++i) append(some, *all[usize(i * std::ssize(all) / count)]);
    return some;
  }

  // Returns the sentences in the order of the split.
  std::vector<Seen> see_all(const Probed& probed) const {
    constexpr Index kTogether = 32;
    const std::vector<Index> chosen = seen_sentences(probed.split, options_.sentences);
    std::vector<Seen> all(chosen.size());
    probed.workers.run((std::ssize(chosen) + kTogether - 1) / kTogether, [&](Index piece) {
      probed.check_stop();
      const auto first = usize(piece * kTogether);
      const auto some =
          std::span(chosen).subspan(first, std::min(usize(kTogether), chosen.size() - first));
      const Batch batch = make_batch(probed.split, some, probed.model.batch_parts());
      std::vector<Seen> rows = see(probed.model, batch);
      for (std::size_t b = 0; b < rows.size(); ++b)
        all[usize(std::ranges::lower_bound(chosen, batch.example[b]) - chosen.begin())] =
            std::move(rows[b]);
    });
    return all;
  }

  static std::vector<Seen> see(const Model& model, const Batch& batch) {
    Tape tape(Tape::Mode::infer);
    const Model::Taught taught = model.teach(tape, batch, {});
    std::vector<Seen> all(usize(batch.rows));
    for (Index b = 0; b < batch.rows; ++b) {
      Seen& seen = all[usize(b)];
      for (Index i = 0; i + 1 < batch.source_lengths[usize(b)]; ++i)
        seen.words.push_back(batch.source[usize(b * batch.source_steps + i)]);
      for (Var array : taught.source.state) {
        const SentenceRows rows = sentence_rows(array.value());
        for (Index p = 0; p < rows.positions; ++p)
          seen.state.insert(seen.state.end(), rows.row(b, p), rows.row(b, p) + rows.columns);
      }
      if (taught.weights.empty()) continue;
      for (std::size_t i = 0; i < seen.words.size(); ++i)
        seen.contexts.push_back(context_of(model, taught, batch, b, static_cast<Index>(i)));
    }
    return all;
  }

  // The context of sentence b at the step with the largest weight on source position i.
  static std::vector<float> context_of(
      const Model& model, const Model::Taught& taught, const Batch& batch, Index b, Index i) {
    const View values = taught.source.annotations.averaged().value();  // [B,S,D]
    const Index place = model.encoder().position_of(i), width = values.shape[2];
    const auto weights_at = [&](Index t) {
      const View weights = taught.weights[usize(t)].value();
      return weights.data + b * weights.shape[1];
    };
    Index most = 0;
    for (Index t = 1; t < batch.target_lengths[usize(b)]; ++t)
      if (weights_at(t)[place] > weights_at(most)[place]) most = t;
    std::vector<double> context(usize(width));
    for (Index s = 0; s < taught.positions[usize(b)]; ++s)
      for (Index u = 0; u < width; ++u)
        context[usize(u)] +=
            static_cast<double>(weights_at(most)[s]) *
            static_cast<double>(values.data[(b * values.shape[1] + s) * width + u]);
    return {context.begin(), context.end()};
  }

  // Percentages of right answers at each position; the probe is trained on at most `most` sentences.
  struct Accuracies {
    std::vector<double> right, most_frequent;
  };
  Accuracies accuracies(const std::string& of,
                        const std::vector<Seen>& sentences,
                        Index most = kMostSentences) const {
    Accuracies all;
    std::optional<RidgeProbe> probe;
    std::vector<const Seen*> before;
    for (Index p = 0; p < options_.longest; ++p) {
      std::vector<const Seen*> reaching;  // this position
      for (const Seen& one : sentences)
        if (p < std::ssize(one.words)) reaching.push_back(&one);
      if (!probe || of == "context" || reaching != before) {
        Vectors vectors;
        for (const Seen* one : reaching)
          if (of == "state")
            append(vectors, one->state);
          else
            append(vectors, one->contexts[usize(p)]);
        probe.emplace(vectors, options_.ridge, most);
      }
      before = reaching;
      std::vector<Index> words;
      for (const Seen* one : reaching) words.push_back(one->words[usize(p)]);
      const ProbeCounts counts = probe->ask(words);
      const auto share = [&](Index count) {
        return counts.all < kFewest
                   ? kUndefined
                   : 100 * static_cast<double>(count) / static_cast<double>(counts.all);
      };
      all.right.push_back(share(counts.right));
      all.most_frequent.push_back(share(counts.most_frequent));
    }
    return all;
  }

  void add_accuracy(Findings& found,
                    const std::string& of,
                    const std::vector<Seen>& sentences) const {
    Accuracies all = accuracies(of, sentences);
    found.values[of + "_accuracy"] = std::move(all.right);
    found.values["most_frequent"] = std::move(all.most_frequent);
  }

  // Adds the accuracy for 1/8, 1/4, 1/2 and all of the training sentences; the last is from add_accuracy.
  void add_teaching_curve(Findings& found, const std::vector<Seen>& sentences) const {
    FindingAxis axis{"taught", "sentences that teach the probe", {}};
    std::vector<double> curve;
    const Index all = (std::ssize(sentences) + 1) / 2;
    for (const Index part : {8, 4, 2, 1}) {
      axis.places.push_back(static_cast<double>(all / part));
      curve.push_back(mean_of_defined(part == 1
                                          ? found.values["state_accuracy"]
                                          : accuracies("state", sentences, all / part).right));
    }
    found.axes.push_back(std::move(axis));
    found.values["state_accuracy_by_taught"] = std::move(curve);
  }

  static double mean_of_defined(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    return ratio(std::accumulate(values.begin(), values.end(), 0.0),
                 static_cast<double>(values.size()));
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
