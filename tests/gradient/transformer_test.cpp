// The Transformer's encoder and decoder, and multi-head attention over recurrent states, against NumPy:
// tests/reference/transformer.py says how transformer.json is made again. In double.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/plugin.hpp"

using namespace softalign;
using Json = nlohmann::json;

namespace {

// As in transformer.py.
constexpr Index kEmbedding = 4, kAnnotation = 5, kQuery = 3, kPositions = 3, kSteps = 3;
const std::vector<Index> kLengths = {3, 2};
const Index kSentences = std::ssize(kLengths);

const Json& cases() {
  static const Json all =
      Json::parse(std::ifstream(SOFTALIGN_SOURCE_DIR "/tests/reference/transformer.json"));
  return all;
}

void fill(const std::string& name, View array) {
  double first = 0;
  for (const char c : name) first += c;
  for (Index i = 0; i < array.size(); ++i)
    array.data[i] = 0.5 * std::sin(first + 0.7 * static_cast<double>(i));
}

View filled(Tape& tape, const std::string& name, Shape shape) {
  View array = tape.allocate(shape);
  fill(name, array);
  return array;
}

void fill(ParameterStore& store) {
  store.allocate(1);
  for (const Parameter& parameter : store.all()) fill(parameter.name, parameter.value());
}

TransformerOptions options(const Json& variant) {
  return {.layers = 2,
          .heads = 2,
          .units = 6,
          .feed_forward = 7,
          .dropout = 0,
          .positions = variant["positions"],
          .max_positions = 2,
          .norm = variant["norm"]};
}

template <class Kind, class Options>
Choice choice(const char* type, const Options& options) {
  auto any = std::make_shared<OptionsOf<Options>>();
  any->value = options;
  return {Kind::name, type, any, {}};
}

struct Decoding {
  explicit Decoding(const TransformerOptions& options)
      : decoder(make_plugin<DecoderKind>(choice<DecoderKind>("transformer", options),
                                         Parameters(store),
                                         DecoderSizes{kEmbedding, kAnnotation, 1, {}, {}})) {
    fill(store);
  }
  ParameterStore store;
  std::unique_ptr<Decoder> decoder;
};

Annotations annotations_on(Tape& tape) {
  return {tape.constant(filled(tape, "annotations", {kSentences, kPositions, kAnnotation})),
          {},
          {},
          kLengths};
}

// A row of what is expected, `each` numbers at `row`, is what is at `data`.
void equal(const Json& expected, Index row, Index each, const real* data) {
  for (Index i = 0; i < each; ++i)
    BOOST_TEST(std::abs(expected.at(usize(row * each + i)).get<double>() - data[i]) < 1e-10);
}

void near(Var a, Var b) {
  BOOST_REQUIRE(a.shape() == b.shape());
  for (Index i = 0; i < a.value().size(); ++i)
    BOOST_TEST(std::abs(a.value().data[i] - b.value().data[i]) < 1e-12);
}

// Of sentence b, the weights of all heads at some steps.
void equal_heads(const Json& expected, const HeadWeights& heads, Index layers, Index b) {
  const Index length = kLengths[usize(b)];
  Index compared = 0;
  for (const HeadWeights::Part& part : heads.parts) {
    const Index steps = part.weights.shape[0], count = part.weights.shape[2];
    for (Index t = 0; t < steps; ++t)
      for (Index h = 0; h < count; ++h, ++compared)
        equal(expected,
              (part.layer * count + h) * kSteps + part.step + t,
              length,
              part.weights.data + ((t * kSentences + b) * count + h) * kPositions);
  }
  BOOST_TEST(compared * length == std::ssize(expected));
  BOOST_TEST(compared == layers * 2 * kSteps);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transformer)

BOOST_AUTO_TEST_CASE(the_encoder_is_the_papers) {
  for (const Json& one : cases()["transformer"]) {
    ParameterStore store;
    const auto encoder = make_plugin<EncoderKind>(
        choice<EncoderKind>("self_attention", options(one)), Parameters(store), kEmbedding);
    fill(store);
    Tape tape(Tape::Mode::infer);
    Var embedded = tape.constant(filled(tape, "source", {kSentences, kPositions, kEmbedding}));
    const Annotations found = encoder->encode({embedded, kLengths});
    const Index b = one["sentence"], length = kLengths[usize(b)];
    for (Index s = 0; s < length; ++s)
      equal(one["states"], s, 6, found.states.value().data + (b * kPositions + s) * 6);
    equal(one["states"], length - 1, 6, found.last.value().data + b * 6);
  }
}

BOOST_AUTO_TEST_CASE(the_decoder_is_the_papers) {
  for (const Json& one : cases()["transformer"]) {
    const Decoding made(options(one));
    Tape tape(Tape::Mode::infer);
    HeadWeights heads;
    const Annotations annotations = annotations_on(tape);
    AttentionMemory memory = made.decoder->prepare(annotations);
    memory.inspection.heads = &heads;
    Var target =
        tape.constant(filled(tape, "target", Shape::steps_first({kSteps, kSentences, kEmbedding})));
    const Unrolled all = made.decoder->unroll(
        memory, made.decoder->start(annotations, memory), made.decoder->inputs(target));
    const Index b = one["sentence"], length = kLengths[usize(b)];
    for (Index t = 0; t < kSteps; ++t) {
      equal(one["outputs"], t, 6, all.outputs.value().data + (t * kSentences + b) * 6);
      const real* mean = all.weights[usize(t)].value().data + b * kPositions;
      for (Index s = 0; s < kPositions; ++s) {
        const auto weight = [&](Index head) {  // of the last layer
          const Index at = ((2 + head) * kSteps + t) * length + s;
          return one["weights"][usize(at)].get<double>();
        };
        BOOST_TEST(std::abs(mean[s] - (s < length ? (weight(0) + weight(1)) / 2 : 0)) < 1e-10);
      }
    }
    equal_heads(one["weights"], heads, 2, b);
  }
}

// Masks of dropout too.
BOOST_AUTO_TEST_CASE(step_by_step_is_all_at_once) {
  for (const Json& one : cases()["transformer"])
    for (const double dropout : {0.0, 0.3}) {
      TransformerOptions how = options(one);
      how.dropout = dropout;
      const Decoding made(how);
      Tape tape(Tape::Mode::infer);
      const std::vector<Index> examples = {17, 4};
      const Noise noise{3, 5, examples};
      tape.set_noise(&noise);
      const Annotations annotations = annotations_on(tape);
      AttentionMemory memory = made.decoder->prepare(annotations);
      HeadWeights heads;
      memory.inspection.heads = &heads;
      Var target = tape.constant(
          filled(tape, "target", Shape::steps_first({kSteps, kSentences, kEmbedding})));
      const auto unrolled = [&](auto unroll) {
        heads.parts.clear();
        return unroll(made.decoder->start(annotations, memory), made.decoder->inputs(target));
      };
      const Unrolled all = unrolled([&](State start, Var inputs) {
        return made.decoder->unroll(memory, start, std::move(inputs));
      });
      const Unrolled steps = unrolled([&](State start, Var inputs) {
        return made.decoder->Decoder::unroll(memory, start, std::move(inputs));
      });
      near(steps.outputs, all.outputs);
      BOOST_REQUIRE(steps.weights.size() == all.weights.size());
      for (std::size_t t = 0; t < steps.weights.size(); ++t) near(steps.weights[t], all.weights[t]);
      if (dropout == 0) equal_heads(one["weights"], heads, 2, one["sentence"]);
    }
}

// Of the pass over all steps, which conformance does not see, to every input and parameter.
BOOST_AUTO_TEST_CASE(gradients_of_all_steps_at_once) {
  for (const std::size_t variant : {0u, 2u}) {
    Decoding made(options(cases()["transformer"][variant]));
    std::vector<real> states(2 * 3 * 5), target(3 * 2 * 4);
    fill("annotations", {states.data(), {30}});
    fill("target", {target.data(), {24}});
    const GradientCheck result = check_gradients(
        [&](Tape&, const std::vector<Var>& x) {
          const Annotations annotations{x[0], {}, {}, kLengths};
          const AttentionMemory memory = made.decoder->prepare(annotations);
          const Unrolled all = made.decoder->unroll(
              memory, made.decoder->start(annotations, memory), made.decoder->inputs(x[1]));
          return std::vector<Var>{all.outputs, all.weights[0], all.weights[2]};
        },
        {{states.data(), {2, 3, 5}}, {target.data(), Shape::steps_first({3, 2, 4})}},
        &made.store);
    BOOST_TEST_CONTEXT(result.where) { BOOST_TEST(result.worst < 1e-5); }
    BOOST_TEST(result.checked > 400);
  }
}

BOOST_AUTO_TEST_CASE(heads_over_recurrent_states_are_the_formula) {
  for (const Json& one : cases()["multi_head"]) {
    ParameterStore store;
    struct Options {
      Choice attention{.kind = "attention"};
      void describe(OptionVisitor& v) { v("attention", attention, "how a query looks"); }
    };
    const auto options =
        parse_spec<Options>("attention: {type: multi_head, heads: 2, units: 6}", "");
    const auto attention = make_plugin<AttentionKind>(
        options.spec.attention, Parameters(store), AttentionSizes{kQuery, kAnnotation});
    fill(store);
    Tape tape(Tape::Mode::infer);
    HeadWeights heads;
    AttentionMemory memory = attention->prepare(annotations_on(tape));
    memory.inspection.heads = &heads;
    const Glimpse found =
        attention->attend(memory, {{tape.constant(filled(tape, "state", {kSentences, kQuery}))}});
    const Index b = one["sentence"], length = kLengths[usize(b)];
    equal(one["context"], 0, kAnnotation, found.context.value().data + b * kAnnotation);
    BOOST_REQUIRE(heads.parts.size() == 1u);
    for (Index h = 0; h < 2; ++h)
      equal(one["weights"], h, length, heads.parts[0].weights.data + (b * 2 + h) * kPositions);
  }
}

BOOST_AUTO_TEST_SUITE_END()
