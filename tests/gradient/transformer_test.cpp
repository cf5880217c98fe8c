// The Transformer's encoder and decoder, and multi-head attention over recurrent states, against NumPy:
// tests/reference/transformer.py makes transformer.json. In double.
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

TransformerOptions small(const std::string& positions) {
  TransformerOptions options;
  options.layers = 1;
  options.heads = 2;
  options.units = 6;
  options.feed_forward = 7;
  options.positions = positions;
  options.max_positions = 2;
  return options;
}

TransformerOptions options(const Json& variant) {
  TransformerOptions options = small(variant["positions"]);
  options.layers = 2;
  options.heads = variant["heads"];
  options.norm = variant["norm"];
  if (!variant["clip"].is_null()) options.clip = variant["clip"].get<Index>();
  options.relative_values = variant["values"].get<bool>();
  options.relative_shared = variant["shared"].get<bool>();
  return options;
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

// Checks that the `each` numbers at `data` equal the expected ones at `row`.
void equal(const Json& expected, Index row, Index each, const real* data) {
  for (Index i = 0; i < each; ++i)
    BOOST_TEST(std::abs(expected.at(usize(row * each + i)).get<double>() - data[i]) < 1e-10);
}

void near(Var a, Var b) {
  BOOST_REQUIRE(a.shape() == b.shape());
  for (Index i = 0; i < a.value().size(); ++i)
    BOOST_TEST(std::abs(a.value().data[i] - b.value().data[i]) < 1e-12);
}

// Returns the weights of all heads for sentence b at some steps, over `length` positions.
void equal_heads(
    const Json& expected, const HeadWeights& heads, Index of_layer, Index b, Index length) {
  Index compared = 0;
  for (const HeadWeights::Part& part : heads.parts) {
    const Index steps = part.weights.shape[0], count = part.weights.shape[2];
    for (Index t = 0; t < steps; ++t)
      for (Index h = 0; h < count; ++h, ++compared)
        for (Index s = 0; s < length; ++s) {
          const Index row = (part.layer * count + h) * kSteps + part.step + t,
                      width = part.weights.shape[3];
          const real found = s < width
                                 ? part.weights.data[((t * kSentences + b) * count + h) * width + s]
                                 : 0;  // not read yet
          equal(expected, row * length + s, 1, &found);
        }
  }
  BOOST_TEST(compared * length == std::ssize(expected));
  BOOST_TEST(compared == 2 * of_layer * kSteps);
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
    HeadWeights heads, own;
    const Annotations annotations = annotations_on(tape);
    AttentionMemory memory = made.decoder->prepare(annotations);
    memory.inspection.heads = &heads;
    memory.inspection.own_heads = &own;
    const Index of_layer = one["heads"];
    Var target =
        tape.constant(filled(tape, "target", Shape::steps_first({kSteps, kSentences, kEmbedding})));
    const Unrolled all = made.decoder->unroll(
        memory, made.decoder->start(annotations, memory), made.decoder->inputs(target));
    const Index b = one["sentence"], length = kLengths[usize(b)];
    for (Index t = 0; t < kSteps; ++t) {
      equal(one["outputs"], t, 6, all.outputs.value().data + (t * kSentences + b) * 6);
      const real* mean = all.weights[usize(t)].value().data + b * kPositions;
      for (Index s = 0; s < kPositions; ++s) {
        double expected = 0;
        for (Index head = of_layer; head < 2 * of_layer && s < length; ++head) {  // the last layer
          const Index at = (head * kSteps + t) * length + s;
          expected += one["weights"][usize(at)].get<double>() / static_cast<double>(of_layer);
        }
        BOOST_TEST(std::abs(mean[s] - expected) < 1e-10);
      }
    }
    equal_heads(one["weights"], heads, of_layer, b, length);
    equal_heads(one["own"], own, of_layer, b, kSteps);
  }
}

// With dropout masks.
BOOST_AUTO_TEST_CASE(step_by_step_is_all_at_once) {
  for (const Json& one : cases()["transformer"])
    for (const double dropout : {0.0, 0.3}) {
      TransformerOptions how = options(one);
      how.dropout = dropout;
      how.attention_dropout = dropout;
      how.inner_dropout = dropout;
      const Decoding made(how);
      Tape tape(Tape::Mode::infer);
      const std::vector<Index> examples = {17, 4};
      const Noise noise{3, 5, examples};
      tape.set_noise(&noise);
      const Annotations annotations = annotations_on(tape);
      AttentionMemory memory = made.decoder->prepare(annotations);
      HeadWeights heads, own;
      memory.inspection.heads = &heads;
      memory.inspection.own_heads = &own;
      Var target = tape.constant(
          filled(tape, "target", Shape::steps_first({kSteps, kSentences, kEmbedding})));
      const auto unrolled = [&](auto unroll) {
        heads.parts.clear();
        own.parts.clear();
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
      if (dropout != 0) continue;
      const Index b = one["sentence"];
      equal_heads(one["weights"], heads, one["heads"], b, kLengths[usize(b)]);
      equal_heads(one["own"], own, one["heads"], b, kSteps);
    }
}

// Gradients of all inputs and parameters in the pass over all steps, which conformance tests do not use.
BOOST_AUTO_TEST_CASE(gradients_of_all_steps_at_once) {
  for (std::size_t variant = 0; variant < cases()["transformer"].size(); variant += 2) {
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

// Gradients of all inputs and parameters, with fixed dropout masks.
BOOST_AUTO_TEST_CASE(gradients_with_dropout) {
  for (const char* positions : {"sinusoidal", "relative"}) {
    TransformerOptions how = small(positions);
    how.dropout = 0.2;
    how.clip = 1;
    how.relative_values = true;
    how.attention_dropout = 0.3;
    how.inner_dropout = 0.3;
    Decoding made(how);
    std::vector<real> states(2 * 3 * 5), target(3 * 2 * 4);
    fill("annotations", {states.data(), {30}});
    fill("target", {target.data(), {24}});
    const std::vector<Index> examples = {17, 4};
    const Noise noise{3, 5, examples};
    const GradientCheck result = check_gradients(
        [&](Tape& tape, const std::vector<Var>& x) {
          tape.set_noise(&noise);
          const Annotations annotations{x[0], {}, {}, kLengths};
          const AttentionMemory memory = made.decoder->prepare(annotations);
          const Unrolled all = made.decoder->unroll(
              memory, made.decoder->start(annotations, memory), made.decoder->inputs(x[1]));
          return std::vector<Var>{all.outputs, all.weights[0], all.weights[2]};
        },
        {{states.data(), {2, 3, 5}}, {target.data(), Shape::steps_first({3, 2, 4})}},
        &made.store);
    BOOST_TEST_CONTEXT(positions << " " << result.where) { BOOST_TEST(result.worst < 1e-5); }
  }
}

// Weights are 0 or p / (1 - rate), with the expected frequencies; reported weights are those before dropout.
BOOST_AUTO_TEST_CASE(dropout_of_weights) {
  constexpr Index kMany = 40, kHeads = 3;
  constexpr double kRate = 0.3;
  const std::vector<Index> examples = {17, 4}, lengths = {40, 25};
  const Noise noise{3, 5, examples};
  const RandomStream stream(0, "noise/test");
  Tape tape(Tape::Mode::infer);
  tape.set_noise(&noise);
  View queries = tape.zeros({2, kMany, kHeads}), values = tape.zeros({2, kMany, kHeads});
  std::fill(values.begin(), values.end(), 1);
  const auto attend = [&](double rate) {
    return multi_head_attention({tape.constant(queries)},
                                {tape.constant(queries)},
                                {tape.constant(values)},
                                {.size = kHeads,
                                 .heads = kHeads,
                                 .lengths = lengths,
                                 .mean = true,
                                 .dropout = {rate, &stream, 0}});
  };
  const MultiHead dropped = attend(kRate), whole = attend(0);
  near(dropped.mean, whole.mean);
  double kept = 0, all = 0;  // a context is the sum of the weights, which are all 1 / length
  for (Index b = 0; b < 2; ++b)
    for (Index i = 0; i < kMany * kHeads; ++i) {
      const double count = dropped.context.value().data[b * kMany * kHeads + i] *
                           static_cast<double>(lengths[usize(b)]) * (1 - kRate);
      BOOST_TEST(std::abs(count - std::round(count)) < 1e-9);
      kept += count;
      all += static_cast<double>(lengths[usize(b)]);
    }
  BOOST_TEST(std::abs(kept / all - (1 - kRate)) < 0.02);
}

// Beyond the clipped distance energies are equal; rotating queries and keys by equal angles changes nothing.
BOOST_AUTO_TEST_CASE(only_distances_matter) {
  for (const char* positions : {"relative", "rotary"}) {
    TransformerOptions how = small(positions);
    how.units = 8;
    how.clip = 2;
    ParameterStore store;
    const SelfAttention attention(Parameters(store), "a", how, SelfAttention::Sees::past);
    const TransformerInput input(Parameters(store) / "input", 8, how);
    fill(store);
    Tape tape(Tape::Mode::infer);
    const auto outputs = [&](Index first) {
      Var x = tape.constant(filled(tape, "x", Shape::steps_first({5, 2, 8})));
      return attention.causal(x, input.positions(x, first), true);
    };
    const MultiHead here = outputs(0), there = outputs(1000);
    near(here.context, there.context);
    near(here.each, there.each);
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
