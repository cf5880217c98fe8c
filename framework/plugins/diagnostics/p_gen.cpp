// The switch of an output layer that copies (See et al. 2017, equation 8): p_gen, the probability of writing a symbol
// of the vocabulary rather than copying one of the source, teacher-forced; 0 for a layer that always copies. The
// paper reports its mean in training and at test (section 7.2).
//   mean       over the target symbols of all sentences, with </s>
//   of_copied  over those that the vocabulary lacks and the source has, so that only a copy can write them
//   by_step    over the sentences that have this step
#include "framework/base/types.hpp"
#include "framework/eval/diagnostic.hpp"

namespace softalign {
namespace {

class Switch final : public Diagnostic {
 public:
  struct Options : DiagnosticOptions {
    Index longest = 100;
    template <class V>
    void describe(V& v) {
      DiagnosticOptions::describe(v);
      v("longest", longest, "number of steps, from the first", between(1, kLongestSentence));
    }
  };
  explicit Switch(const Options& options) : options_(options) {}

  bool looks(Moment, const Split&) const override { return true; }
  void check(const Model& model) const override {
    if (!model.output_layer().copies())
      throw SpecError("this model copies nothing; use model.output=pointer_generator");
  }

  std::vector<FoundArray> arrays() const override {
    return {{"mean", "p_gen, the probability of writing a symbol, not copying one"},
            {"of_copied",
             "p_gen, the probability of writing, at words that the target vocabulary lacks"},
            {"by_step", "p_gen, the probability of writing a symbol, at each step", "1", {"step"}}};
  }

  Findings look(const Probed& probed) const override {
    const auto sentences =
        of_each_sentence(probed, options_.sentences, [&](Index, const Batch& batch) {
          return steps_of(probed.model, batch);
        });
    Findings found{{{"step", "target step, from 0", {}}}, {}};
    for (Index t = 0; t < options_.longest; ++t)
      found.axes[0].places.push_back(static_cast<double>(t));
    Mean all, of_copied;
    std::vector<Mean> by_step(usize(options_.longest));
    for (const std::vector<Step>& sentence : sentences)
      for (std::size_t t = 0; t < sentence.size(); ++t) {
        all.add(sentence[t].p_gen);
        if (sentence[t].copied) of_copied.add(sentence[t].p_gen);
        if (t < by_step.size()) by_step[t].add(sentence[t].p_gen);
      }
    found.values = {{"mean", {all.value()}}, {"of_copied", {of_copied.value()}}, {"by_step", {}}};
    for (const Mean& one : by_step) found.values["by_step"].push_back(one.value());
    return found;
  }

 private:
  struct Step {
    double p_gen;
    bool copied;
  };
  struct Mean {
    double sum = 0, count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
    double value() const { return count == 0 ? kUndefined : sum / count; }
  };

  static std::vector<Step> steps_of(const Model& model, const Batch& batch) {
    Tape tape(Tape::Mode::infer);
    const Model::Taught taught = model.teach(tape, batch, {});
    const Var p_gen = model.output_layer().p_gen(taught.output());  // [T,1,1]
    std::vector<Step> steps;
    for (Index t = 0; t < batch.target_lengths[0]; ++t)
      steps.push_back({p_gen ? static_cast<double>(p_gen.value().data[t]) : 0,
                       batch.target_out[usize(t)] >= model.target_symbols()});
    return steps;
  }

  Options options_;
};
SOFTALIGN_DIAGNOSTIC("p_gen",
                     Switch,
                     "how often a layer that copies writes a symbol instead (See et al. 2017)");

}  // namespace
}  // namespace softalign
