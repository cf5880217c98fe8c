// Transformers as whole models, in float: training over all steps equals the steps of a search, models
// learn, and invalid options are refused.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/task.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/train/step.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

struct TaskAndModel {
  Choice task{.kind = "task", .type = "copy"};
  ModelOptions model;
  template <class V>
  void describe(V& v) {
    v("task", task, "");
    v("model", model, "");
  }
};

constexpr const char* kTask =
    "task: {type: copy, symbols: 8, length: {train: [1, 6], dev: [1, 6], test: [1, 6]},\n"
    "       examples: {train: 400, dev: 40, test: 40}}\n";
constexpr const char* kSize = "layers: 2, heads: 2, units: 32, feed_forward: 64";

std::string transformer(const std::string& options = "") {
  return fmt::format(
      "{}model: {{embedding: 32, encoder: {{type: self_attention, {}{}}},\n"
      "  attention: built_in, decoder: {{type: transformer, {}{}}}}}\n",
      kTask,
      kSize,
      options,
      kSize,
      options);
}

struct Setting {
  explicit Setting(const std::string& yaml) {
    const TaskAndModel spec = parse_spec<TaskAndModel>(yaml, "test.yaml").spec;
    data = make_plugin<TaskKind>(spec.task)->load(1, {});
    model = std::make_unique<Model>(spec.model, data.source->size(), data.target->size(), 1);
  }
  Batch batch(Index first, Index count) const {
    std::vector<Index> examples;
    for (Index i = 0; i < count; ++i) examples.push_back((first + i) % 400);
    return make_batch(data.train, examples);
  }
  Dataset data;
  std::unique_ptr<Model> model;
};

// Returns -log p of each target symbol of a batch, step by step as in a search.
std::vector<double> nll_by_steps(const Model& model, const Batch& batch) {
  Tape tape(Tape::Mode::infer);
  Model::Source source = model.read(tape, batch.source_side());
  std::vector<double> nll(usize(batch.rows * batch.target_steps));
  for (Index t = 0; t < batch.target_steps; ++t) {
    std::vector<Token> previous;
    for (Index b = 0; b < batch.rows; ++b)
      previous.push_back(batch.target_in[usize(b * batch.target_steps + t)]);
    const Model::Prediction now = model.predict(tape, source, previous);
    const View logits = now.logits.value();
    for (Index b = 0; b < batch.rows; ++b) {
      const real* row = logits.data + b * logits.shape[1];
      double sum = 0;
      for (Index v = 0; v < logits.shape[1]; ++v) sum += std::exp(static_cast<double>(row[v]));
      const auto at = usize(b * batch.target_steps + t);
      nll[at] = std::log(sum) - static_cast<double>(row[batch.target_out[at]]);
    }
    source.state = now.next;
  }
  return nll;
}

// Compares the bits of a decoder's steps, computed together and one by one.
void same_bits_step_by_step(const std::string& options) {
  struct Options {
    Choice decoder{.kind = "decoder"};
    void describe(OptionVisitor& v) { v("decoder", decoder, ""); }
  };
  const Choice choice =
      parse_spec<Options>(fmt::format("decoder: {{type: transformer{}}}", options), "")
          .spec.decoder;
  ParameterStore store;
  const auto decoder =
      make_plugin<DecoderKind>(choice, Parameters(store), DecoderSizes{24, 40, 1, {}, {}});
  store.allocate(5);
  constexpr Index kSentences = 3, kPositions = 7, kSteps = 9;
  const std::vector<Index> lengths = {7, 4, 1};
  Tape tape(Tape::Mode::infer);
  const auto normal = [&](const char* name, Shape shape) {
    View array = tape.allocate(shape);
    const RandomStream stream(1, name);
    for (Index i = 0; i < array.size(); ++i)
      array.data[i] = static_cast<real>(stream.normal(static_cast<std::uint64_t>(i)));
    return tape.constant(array);
  };
  const Annotations annotations{normal("states", {kSentences, kPositions, 40}), {}, {}, lengths};
  const AttentionMemory memory = decoder->prepare(annotations);
  Var target = normal("target", Shape::steps_first({kSteps, kSentences, 24}));
  const Unrolled all =
      decoder->unroll(memory, decoder->start(annotations, memory), decoder->inputs(target));
  const Unrolled steps = decoder->Decoder::unroll(
      memory, decoder->start(annotations, memory), decoder->inputs(target));
  const auto same = [](Var a, Var b) {
    return std::equal(a.value().begin(), a.value().end(), b.value().begin(), b.value().end());
  };
  BOOST_TEST(same(all.outputs, steps.outputs));
  BOOST_REQUIRE(all.weights.size() == steps.weights.size());
  for (std::size_t t = 0; t < all.weights.size(); ++t)
    BOOST_TEST(same(all.weights[t], steps.weights[t]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transformers)

BOOST_AUTO_TEST_CASE(training_and_search_compute_the_same) {
  for (const char* options : {"",
                              ", norm: pre, positions: learned, max_positions: 4",
                              ", positions: relative, clip: 2, relative_values: true",
                              ", positions: rotary",
                              ", positions: none"}) {
    const Setting setting(transformer(options));
    const Batch batch = setting.batch(0, 12);
    Tape tape(Tape::Mode::infer);
    const Model::Forward forward = setting.model->forward(tape, batch, 1);
    const std::vector<double> steps = nll_by_steps(*setting.model, batch);
    for (Index b = 0; b < batch.rows; ++b)
      for (Index t = 0; t < batch.target_lengths[usize(b)]; ++t) {
        const auto at = usize(b * batch.target_steps + t);
        BOOST_TEST(std::abs(steps[at] - static_cast<double>(forward.losses.nll[at])) < 1e-5);
      }
  }
}

// Bits are equal, because a row of a product does not depend on the other rows (gemm_tile.hpp).
BOOST_AUTO_TEST_CASE(all_steps_at_once_have_the_bits_of_single_steps) {
  for (const char* options : {"",
                              ", positions: relative, clip: 3, relative_values: true",
                              ", positions: relative, relative_shared: true",
                              ", positions: rotary"})
    BOOST_TEST_CONTEXT(options) same_bits_step_by_step(options);
}

BOOST_AUTO_TEST_CASE(a_tiny_one_learns_to_copy) {
  Setting setting(transformer());
  const auto optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = "adam"});
  Workers workers(2);
  TrainingStep step(*setting.model, *optimizer, {}, workers);
  for (Index update = 1; update <= 500; ++update)
    step.run({setting.batch(update * 40, 40)}, update);
  const auto search =
      make_plugin<SearchKind>(Choice{.kind = "search", .type = "beam"}, std::uint64_t{1}, Index{0});
  EvaluationRequest request;
  request.search = search.get();
  request.keep = 40;
  request.heads = true;
  const EvaluatedSplit result =
      evaluate(*setting.model, setting.data.test, *setting.data.target, request, workers);
  BOOST_TEST(Counts(result.counts.layout(), rows_of(result.counts)).sum("exact") >= 38);

  // Every head of both layers, each with rows that sum to 1; the model reports their mean.
  BOOST_REQUIRE(result.forced_heads.size() == result.forced.size());
  for (std::size_t i = 0; i < result.forced.size(); ++i) {
    BOOST_REQUIRE(result.forced_heads[i].size() == 4);
    const AlignmentMatrix& mean = result.forced[i];
    for (std::size_t k = 0; k < mean.weights.size(); ++k) {
      const auto weight = [&](std::size_t head) {
        return result.forced_heads[i][head].matrix.weights[k];
      };
      BOOST_TEST(std::abs((weight(2) + weight(3)) / 2 - mean.weights[k]) < 1e-6f);
    }
    for (const HeadMatrix& head : result.forced_heads[i])
      for (Index t = 0; t < mean.steps; ++t) {
        const auto begin = head.matrix.weights.begin() + t * mean.positions;
        BOOST_TEST(std::abs(std::accumulate(begin, begin + mean.positions, 0.0f) - 1) < 1e-5f);
      }
  }
}

BOOST_AUTO_TEST_CASE(parts_combine_with_those_of_other_papers) {
  for (const char* model : {"encoder: {type: self_attention, units: 12, heads: 3}, decoder: {type: "
                            "attentional_gru, units: 10}",
                            "encoder: {type: gru, units: 10}, attention: built_in, decoder: {type: "
                            "transformer, units: 12, heads: 3}",
                            "encoder: {type: gru, units: 10}, attention: {type: multi_head, units: "
                            "12, heads: 3}, decoder: {type: attentional_gru, units: 10}"}) {
    Setting setting(fmt::format("{}model: {{embedding: 8, {}}}", kTask, model));
    const auto optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = "adam"});
    Workers workers(1);
    TrainingStep step(*setting.model, *optimizer, {}, workers);
    const std::vector<TrainingStep::Parts> batches = {
        {setting.batch(0, 10), setting.batch(10, 10)}};
    const double first = step.run(batches, 1).nll;
    double last = first;
    for (Index update = 2; update <= 100; ++update) last = step.run(batches, update).nll;
    BOOST_TEST_CONTEXT(model) BOOST_TEST(last < 0.9 * first);
  }
}

BOOST_AUTO_TEST_CASE(an_attention_that_nobody_reads_is_refused) {
  for (const char* model : {"decoder: transformer",
                            "attention: none, decoder: transformer",
                            "attention: built_in",
                            "encoder: {type: self_attention, heads: 3}"})
    BOOST_CHECK_THROW(Setting(fmt::format("{}model: {{{}}}", kTask, model)), SpecError);
}

BOOST_AUTO_TEST_SUITE_END()
