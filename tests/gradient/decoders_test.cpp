// Decoders against tests/reference/decoders.py, which computes their first two steps from the
// papers' equations; invalid options; and the arrays that an attention carries from step to step.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/plugin.hpp"
#include "tests/message.hpp"

using namespace softalign;
using Json = nlohmann::json;

namespace {

constexpr Index kEmbedding = 3, kAnnotation = 4, kStart = 2, kUnits = 4, kPositions = 3;
const std::vector<Index> kLengths = {3, 2};

// The array(name) of tests/reference/decoders.py.
void fill(View view, const std::string& name) {
  double sum = 0;
  for (const char c : name) sum += c;
  for (Index i = 0; i < view.size(); ++i)
    view.data[i] = 0.5 * std::sin(sum + 0.7 * static_cast<double>(i));
}

struct Parts {
  Choice decoder{.kind = "decoder", .type = "attentional_gru"};
  Choice attention{.kind = "attention", .type = "global"};
  template <class V>
  void describe(V& v) {
    v("decoder", decoder, "");
    v("attention", attention, "");
  }
};

using MakeAttention = std::function<std::unique_ptr<Attention>(const Parameters&, Index)>;

// A decoder with parameters and inputs that are functions of their names.
struct Setting {
  explicit Setting(const std::string& yaml,
                   Index finals = 0,
                   MakeAttention make = {},
                   Index annotation = kAnnotation,
                   bool values = false) {
    const Parts parts = parse_spec<Parts>(yaml, "test.yaml").spec;
    if (!make)
      make = [=](const Parameters& p, Index query) {
        return make_plugin<AttentionKind>(parts.attention, p, AttentionSizes{query, annotation});
      };
    decoder = make_plugin<DecoderKind>(
        parts.decoder,
        Parameters(store),
        DecoderSizes{
            kEmbedding, annotation, kStart, std::vector<Index>(usize(finals), kUnits), make});
    store.allocate(1);
    for (const Parameter& parameter : store.all()) fill(parameter.value(), parameter.name);
    annotations = {input("annotations", {2, kPositions, annotation}),
                   input("last", {2, annotation}),
                   input("start", {2, kStart}),
                   kLengths};
    if (values) annotations.values = input("values", {2, kPositions, annotation});
    for (Index k = 0; k < finals; ++k)
      annotations.finals.push(input(fmt::format("final {}", k), {2, kUnits}));
    symbols = input("symbols", Shape::steps_first({2, 2, kEmbedding}));
  }
  // A case of the reference.
  explicit Setting(const Json& one)
      : Setting(one["spec"].dump(), one["finals"], {}, one["annotation"], one["values"]) {}
  Var input(const std::string& name, Shape shape) {
    View view = tape.allocate(shape);
    fill(view, name);
    return tape.constant(view);
  }
  Var symbols_of(Index step) {
    return tape.constant({symbols.value().data + step * 2 * kEmbedding, Shape{2, kEmbedding}});
  }

  ParameterStore store;
  Tape tape{Tape::Mode::infer};
  std::unique_ptr<Decoder> decoder;
  Annotations annotations;
  Var symbols;  // [T,B,E]
};

// Returns the largest difference of an array from rows that may be shorter; its own then end in zeros.
double distance(View array, const Json& rows) {
  const Index each = array.size() / array.shape[0];
  double worst = 0;
  for (std::size_t b = 0; b < rows.size(); ++b)
    for (Index i = 0; i < each; ++i) {
      const auto k = usize(i);
      const double expected = k < rows[b].size() ? rows[b][k].get<double>() : 0;
      worst = std::max(worst, std::abs(array.data[static_cast<Index>(b) * each + i] - expected));
    }
  return worst;
}

Json column(const Json& rows, std::size_t k) {  // the k-th array of each sentence
  Json result = Json::array();
  for (const Json& row : rows) result.push_back(row[k]);
  return result;
}

Json reference_cases() {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/reference/decoders.json");
  return Json::parse(file);
}

std::string refusal(const std::string& yaml, Index finals = 0) {
  return test::refusal([&] { Setting{yaml, finals}; });
}

// An attention that counts its calls in an array of its own.
class Counting final : public Attention {
 public:
  AttentionMemory prepare(const Annotations& annotations) const override {
    return Memory{annotations.states, {}, annotations.lengths};
  }
  State start(const AttentionMemory& memory) const override {
    Tape& tape = memory.keys.tape();
    return {tape.constant(tape.zeros({memory.keys.shape()[0], 1}))};
  }
  Glimpse attend(const AttentionMemory& memory, const AttentionQuery& query) const override {
    Tape& tape = memory.keys.tape();
    BOOST_TEST(query.past.size() == 1U);
    BOOST_TEST(query.past[0].shape().str() == "[2, 1]");
    BOOST_TEST(query.past[0].value().data[1] == static_cast<double>(query.step));
    View next = tape.allocate({2, 1});
    for (real& count : next) count = static_cast<real>(query.step + 1);
    return {tape.constant(tape.zeros({2, kAnnotation})), {}, {tape.constant(next)}};
  }
  Index context_size() const override { return kAnnotation; }
  bool aligns() const override { return false; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(decoders)

BOOST_AUTO_TEST_CASE(are_the_papers_equations) {
  const Json cases = reference_cases();
  BOOST_TEST(cases.size() == 17U);
  for (const Json& one : cases) BOOST_TEST_CONTEXT(one["spec"].dump()) {
      Setting s(one);
      const AttentionMemory memory = s.decoder->prepare(s.annotations);
      State state = s.decoder->start(s.annotations, memory);
      for (Index t = 0; t < 2; ++t) {
        const Json& expected = one["steps"][usize(t)];
        state.step = t;
        const DecoderStep step = s.decoder->step(memory, state, s.decoder->inputs(s.symbols_of(t)));
        BOOST_TEST_REQUIRE(step.next.size() == expected["state"][0].size());
        for (std::size_t k = 0; k < step.next.size(); ++k)
          BOOST_TEST(distance(step.next[k].value(), column(expected["state"], k)) < 1e-12);
        BOOST_TEST(bool(step.weights) == !expected["weights"][0].empty());
        if (step.weights) BOOST_TEST(distance(step.weights.value(), expected["weights"]) < 1e-12);
        Var features = s.decoder->readout(side_by_side(step.output), s.symbols_of(t));
        BOOST_TEST_REQUIRE(features.shape().last() == std::ssize(expected["features"][0]));
        BOOST_TEST(distance(features.value(), expected["features"]) < 1e-12);
        state = step.next;
      }
      // All steps at once, as in training.
      const Unrolled all = s.decoder->unroll(
          memory, s.decoder->start(s.annotations, memory), s.decoder->inputs(s.symbols));
      Var features = s.decoder->readout(all.outputs, s.symbols);
      const Index each = features.shape().size() / 2;
      for (Index t = 0; t < 2; ++t)
        BOOST_TEST(distance({features.value().data + t * each, {2, each / 2}},
                            one["steps"][usize(t)]["features"]) < 1e-12);
    }
}

// Gradients of all inputs and parameters, for many options.
BOOST_AUTO_TEST_CASE(have_right_gradients) {
  for (const Json& one : reference_cases()) BOOST_TEST_CONTEXT(one["spec"].dump()) {
      Setting s(one);
      const Annotations& a = s.annotations;
      std::vector<View> inputs = {
          a.states.value(), a.last.value(), a.start.value(), s.symbols.value()};
      for (Var final : a.finals) inputs.push_back(final.value());
      const std::size_t finals = a.finals.size();
      if (a.values) inputs.push_back(a.values.value());
      const GradientCheck result = check_gradients(
          [&](Tape&, const std::vector<Var>& x) {
            Annotations of_tape{x[0], x[1], x[2], kLengths};
            for (std::size_t k = 0; k < finals; ++k) of_tape.finals.push(x[4 + k]);
            if (x.size() > 4 + finals) of_tape.values = x[4 + finals];
            const AttentionMemory memory = s.decoder->prepare(of_tape);
            const Unrolled all = s.decoder->unroll(
                memory, s.decoder->start(of_tape, memory), s.decoder->inputs(x[3]));
            std::vector<Var> outputs{s.decoder->readout(all.outputs, x[3])};
            outputs.insert(outputs.end(), all.weights.begin(), all.weights.end());
            return outputs;
          },
          inputs,
          &s.store,
          8);
      BOOST_TEST_CONTEXT(result.where) BOOST_TEST(result.worst < 1e-5);
      BOOST_TEST(result.checked > 50);
    }
}

// More steps than the width of a convolution give the same bits.
BOOST_AUTO_TEST_CASE(a_search_computes_what_training_does) {
  constexpr Index kSteps = 7;
  for (const std::string parts :
       {"decoder: {type: convolutional, units: 5, layers: 3, width: 3}\nattention: built_in",
        "decoder: {type: convolutional, units: 3, layers: 2, width: 4}\nattention: built_in",
        "decoder: {type: lstmn, units: 4}\nattention: global",
        "decoder: {type: lstmn, units: 4, fusion: deep}\nattention: global"})
    BOOST_TEST_CONTEXT(parts) {
      Setting s(parts);
      HeadWeights at_once, one_by_one;
      AttentionMemory memory = s.decoder->prepare(s.annotations);
      memory.inspection.heads = &at_once;
      Var symbols = s.input("symbols", Shape::steps_first({kSteps, 2, kEmbedding}));
      State state = s.decoder->start(s.annotations, memory);
      const Unrolled all = s.decoder->unroll(memory, state, s.decoder->inputs(symbols));
      memory.inspection.heads = &one_by_one;
      const auto same = [](View part, const real* whole) {
        BOOST_TEST(std::equal(part.begin(), part.end(), whole));
      };
      for (Index t = 0; t < kSteps; ++t) {
        state.step = t;
        Var symbol =
            s.tape.constant({symbols.value().data + t * 2 * kEmbedding, Shape{2, kEmbedding}});
        const DecoderStep step = s.decoder->step(memory, state, s.decoder->inputs(symbol));
        Var output = side_by_side(step.output);
        same(output.value(), all.outputs.value().data + t * output.value().size());
        same(step.weights.value(), all.weights[usize(t)].value().data);
        state = step.next;
      }
      const std::size_t layers = at_once.parts.size();
      BOOST_TEST_REQUIRE(one_by_one.parts.size() == layers * kSteps);
      for (std::size_t k = 0; k < one_by_one.parts.size(); ++k) {
        const auto& [layer, step, weights] = one_by_one.parts[k];
        BOOST_TEST(layer == static_cast<Index>(k % layers));
        same(weights, at_once.parts[usize(layer)].weights.data + step * weights.size());
      }
    }
}

BOOST_AUTO_TEST_CASE(hand_the_attention_its_own_arrays) {
  for (const char* decoder : {"attentional_gru, units: 4",
                              "attentional_lstm, units: 4",
                              "conditional_gru, units: 4",
                              "lstmn, units: 4",
                              "luong_gru, units: 4, layers: 3",
                              "luong_lstm, units: 4, layers: 2",
                              "luong_lstm, units: 4, layers: 2, input_feeding: false"}) {
    Setting s(fmt::format("decoder: {{type: {}}}", decoder), 0, [](const Parameters&, Index) {
      return std::make_unique<Counting>();
    });
    const AttentionMemory memory = s.decoder->prepare(s.annotations);
    Unrolled all = s.decoder->unroll(
        memory, s.decoder->start(s.annotations, memory), s.decoder->inputs(s.symbols));
    BOOST_TEST(all.weights.empty());
  }
}

// All steps of a sentence share one mask; without noise there is none.
BOOST_AUTO_TEST_CASE(recurrent_dropout_keeps_its_masks) {
  const std::vector<Index> examples = {7, 3};
  const Noise noise{1, 2, examples};
  for (const auto& [decoder, states, masks] :
       {std::tuple{"attentional_gru", 1, 1},
        std::tuple{"attentional_lstm", 2, 1},
        std::tuple{"conditional_gru", 1, 2},
        std::tuple{"luong_lstm, layers: 2, input_feeding: false", 4, 2}}) {
    Setting s(fmt::format("decoder: {{type: {}, units: 4, recurrent_dropout: 0.5}}", decoder));
    const AttentionMemory memory = s.decoder->prepare(s.annotations);
    const auto step = [&](const State& state) {
      return s.decoder->step(memory, state, s.decoder->inputs(s.symbols_of(0))).next;
    };
    const State still = s.decoder->start(s.annotations, memory);
    const State undisturbed = step(still);
    BOOST_TEST(still.size() == usize(states));
    s.tape.set_noise(&noise);
    const State first = s.decoder->start(s.annotations, memory), second = step(first),
                third = step(second);
    BOOST_TEST_REQUIRE(third.size() == usize(states + masks));
    Index dropped = 0;
    for (int k = states; k < states + masks; ++k) {
      const auto at = usize(k);
      const View mask = first[at].value();
      for (Index i = 0; i < mask.size(); ++i) {
        dropped += mask.data[i] == 0;
        BOOST_TEST((mask.data[i] == 0 || mask.data[i] == 2));
        BOOST_TEST(third[at].value().data[i] == mask.data[i]);
      }
    }
    BOOST_TEST(dropped > 0);
    BOOST_TEST(dropped < 8 * masks);
    bool other = false;
    for (Index i = 0; i < 8; ++i)
      other = other || second[0].value().data[i] != undisturbed[0].value().data[i];
    BOOST_TEST(other);
    if (masks == 2) {  // two layers or transitions have different masks
      bool differ = false;
      const auto at = usize(states);
      for (Index i = 0; i < 8; ++i)
        differ = differ || first[at].value().data[i] != first[at + 1].value().data[i];
      BOOST_TEST(differ);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  for (const char* decoder :
       {"luong_gru", "conditional_gru", "{type: attentional_gru, context_gate: true}"})
    BOOST_TEST(refusal(std::string("attention: {type: none, context: nothing}\ndecoder: ") +
                       decoder) != "accepted");
  BOOST_TEST(
      refusal("attention: {type: none, context: mean}\ndecoder: {type: lstmn, fusion: deep}") !=
      "accepted");
  const std::string last = "decoder: {type: luong_lstm, units: 4, layers: 2, initial_state: last}";
  BOOST_TEST(refusal(last, 4) == "accepted");
  for (const Index states : {0, 2}) BOOST_TEST(refusal(last, states) != "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
