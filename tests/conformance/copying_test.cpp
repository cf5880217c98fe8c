// Output layers other than softmax, against their formulas in NumPy (tests/reference/output_layers.py); the models that
// copying layers refuse; and copies of source symbols if source and target have separate vocabularies.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/copies.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/plugin.hpp"
#include "framework/seq/model.hpp"
#include "tests/message.hpp"

using namespace softalign;
using Json = nlohmann::json;

namespace {

constexpr Index kSteps = 4, kRows = 2, kPositions = 4, kSymbols = 9;
const std::vector<Index> kLengths = {4, 2};
const std::vector<Token> kCopies = {
    5, 10, 10, 2, 0, 10, 8, 1};  // 10: a word that only a copy can write
const std::vector<Token> kTargets = {5, 0, 8, 10, 10, 2, 2, -1};
const std::vector<double> kValues = {0, 0, 0, 2, -1, 0.5, 7, 3, 4};  // symbol values, for gaussian

// Fills an array with the same numbers as tests/reference/output_layers.py.
void fill(View array, double phase) {
  for (Index i = 0; i < array.size(); ++i)
    array.data[i] = 0.9 * std::sin(1.7 * static_cast<double>(i) + phase);
}

struct Layer {
  Choice layer{.kind = "output_layer", .type = "softmax"};
  template <class V>
  void describe(V& v) {
    v("layer", layer, "");
  }
};

// The inputs of a layer and their gradients.
struct Inputs {
  struct Array {
    std::vector<real> numbers, gradient;
    Var leaf(Tape& tape, const Shape& shape, Index begin = 0) {
      return tape.leaf({numbers.data() + begin, shape}, gradient.data() + begin);
    }
  };
  Array readout, outputs, embedded, weights;
  AttentionMemory memory{{.lengths = kLengths}};
  std::vector<Var> steps;

  Inputs() {
    make(readout, 3, 1);
    make(outputs, 5, 2);
    make(embedded, 2, 3);
    make(weights, kPositions, 4);
    for (Index i = 0; i < kSteps * kRows; ++i) {
      real *row = weights.numbers.data() + i * kPositions, sum = 0;
      for (Index s = 0; s < kPositions; ++s)
        row[s] = s < kLengths[usize(i % kRows)] ? std::exp(row[s]) : 0;
      for (Index s = 0; s < kPositions; ++s) sum += row[s];
      for (Index s = 0; s < kPositions; ++s) row[s] /= sum;
    }
    memory.source = {kCopies, kRows, kPositions, kLengths};
    memory.source.copies = kCopies;
  }
  OutputInput on(Tape& tape) {
    const auto all = [&](Array& array, Index size) {
      return array.leaf(tape, Shape::steps_first({kSteps, kRows, size}));
    };
    steps.clear();
    for (Index t = 0; t < kSteps; ++t)
      steps.push_back(weights.leaf(tape, {kRows, kPositions}, t * kRows * kPositions));
    return {all(readout, 3), steps, memory, all(outputs, 5), all(embedded, 2)};
  }

 private:
  static void make(Array& array, Index size, double phase) {
    array.numbers.resize(usize(kSteps * kRows * size));
    array.gradient.resize(array.numbers.size());
    fill({array.numbers.data(), {std::ssize(array.numbers)}}, phase);
  }
};

void equal(std::span<const real> found, const Json& expected, const std::string& name) {
  BOOST_TEST_REQUIRE(found.size() == expected.size(), name);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto wanted = expected[i].get<double>();
    BOOST_TEST(std::abs(found[i] - wanted) < 1e-11 * std::max(1.0, std::abs(wanted)),
               name << " " << i << ": " << found[i] << " and " << wanted);
  }
}

ModelOptions small_model(const std::string& changes) {
  return parse_spec<ModelOptions>("{embedding: 3, encoder: {type: gru, units: 4}, " + changes + "}",
                                  "model")
      .spec;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copying)

BOOST_AUTO_TEST_CASE(layers_are_their_formulas) {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/reference/output_layers.json");
  for (const Json& expected : Json::parse(file)) {
    const std::string option = expected["layer"];
    const auto smoothing = expected["smoothing"].get<real>();
    BOOST_TEST_CONTEXT(option << " " << smoothing) {
      ParameterStore store;
      const auto layer = make_plugin<OutputLayerKind>(
          parse_spec<Layer>("{layer: " + option + "}", "test").spec.layer,
          Parameters(store),
          OutputSizes{.readout = 3,
                      .symbols = kSymbols,
                      .tied = nullptr,
                      .outputs = 5,
                      .embedding = 2,
                      .values = kValues});
      store.allocate(1);
      double phase = 10;
      for (const Parameter& parameter : store.all()) fill(parameter.value(), phase++);

      std::vector<real> gradients(usize(store.flat_size()));
      Tape tape(Tape::Mode::train, gradients.data());
      Inputs inputs;
      const Objective objective{.factor = 0.25, .label_smoothing = smoothing};
      std::vector<Token> targets = kTargets;
      if (!layer->copies())
        for (Token& target : targets) target = in_vocabulary(target, kSymbols);
      const OutputRows rows = output_rows(*layer, inputs.on(tape), targets, objective);
      const TokenLosses losses = losses_of(*layer, rows, objective);
      tape.backward(losses.loss);
      std::vector<real> nll, uniform, best;
      for (std::size_t i = 0; i < kTargets.size(); ++i)
        if (kTargets[i] >= 0) {
          nll.push_back(rows.nll[i]);
          if (smoothing > 0) uniform.push_back(rows.uniform[i]);
          best.push_back(rows.best[i]);
        }
      equal(nll, expected["nll"], "nll");
      if (smoothing > 0) equal(uniform, expected["uniform"], "uniform");
      equal(best, expected["best"], "best");
      const View loss = losses.loss.value();
      equal(std::vector{loss.data[0] + loss.data[1]}, Json{expected["loss"]}, "loss");
      const Json& slopes = expected["gradients"];
      equal(inputs.readout.gradient, slopes["readout"], "readout");
      equal(inputs.outputs.gradient, slopes["outputs"], "outputs");
      equal(inputs.embedded.gradient, slopes["embedded"], "embedded");
      equal(inputs.weights.gradient, slopes["weights"], "weights");
      BOOST_TEST(store.all().size() + 4 == slopes.size());
      for (const Parameter& parameter : store.all())
        equal(std::span(gradients).subspan(usize(parameter.offset), usize(parameter.shape.size())),
              slopes[parameter.name],
              parameter.name);

      Tape searching(Tape::Mode::infer);
      const View logits = layer->logits(inputs.on(searching)).value();
      const Index columns = logits.shape.last();
      std::vector<real> p;
      for (Index row = 0; row < kSteps * kRows; ++row) {
        real sum = 0;
        for (Index v = 0; v < columns; ++v) sum += std::exp(logits.data[row * columns + v]);
        for (Index v = 0; v < columns; ++v)
          p.push_back(std::exp(logits.data[row * columns + v]) / sum);
      }
      equal(p, expected["probabilities"], "probabilities");
    }
  }
}

// A copy is the target symbol with the same name, whatever its index, or a word that only the source has.
BOOST_AUTO_TEST_CASE(a_copy_has_the_name_of_its_source) {
  const WordVocabulary source("words", {"red", "green", "blue"});
  const auto target =
      std::make_shared<WordVocabulary>("words", std::vector<std::string>{"blue", "red"});
  const std::vector<Token> wanted = {kUnknown, kBegin, kEnd, 4, kUnknown, 3};
  BOOST_TEST(same_symbols(source, *target) == wanted, boost::test_tools::per_element());

  const Model model(small_model("output: pointer"), SourceFormat(source, target), 5, 3);
  const std::string text = "red green blue pink";
  Split split;
  split.examples.append({.source = source.encode(text), .source_text = text});
  const Batch batch = make_batch(split, std::vector<Index>{0}, model.batch_parts());
  Tape tape(Tape::Mode::infer);
  const Model::Source read = model.read(tape, batch.source_side());
  const std::vector<Token> previous = {kBegin};
  const Model::Prediction next = model.predict(tape, read, previous);
  BOOST_TEST(next.logits.shape().last() == 5 + 5);
  const real *weights = next.weights.value().data, *logits = next.logits.value().data;
  const Token copies[] = {4, 5 + 1, 3, 5 + 3, kEnd};
  for (std::size_t s = 0; s < 5; ++s)
    BOOST_TEST(std::abs(std::exp(logits[usize(copies[s])]) - weights[s]) < 1e-7);
  for (const Index v : {5, 7, 9}) BOOST_TEST(logits[v] == kImpossible);
  BOOST_CHECK_THROW(model.read(tape, make_batch(split, std::vector<Index>{0}).source_side()),
                    BugError);
}

BOOST_AUTO_TEST_CASE(a_model_without_what_is_copied_is_refused) {
  const auto refused = [](const std::string& changes, const SourceFormat& source) {
    return test::refusal([&] { Model(small_model(changes), source, 9); });
  };
  BOOST_TEST(refused("output: pointer, attention: none", 9).find("has none") != std::string::npos);
  BOOST_TEST(refused("output: pointer_generator, attention: local_p", 9).find("sum to 1") !=
             std::string::npos);
  BOOST_TEST(refused("output: pointer", FrameFormat{2}).find("frames") != std::string::npos);
  BOOST_TEST(refused("output: pointer, tied_embeddings: target, decoder: {type: attentional_gru, "
                     "readout_units: 3}",
                     9)
                 .find("tie") != std::string::npos);
  BOOST_TEST(refused("output: pointer_generator", 9) == "accepted");
}

BOOST_AUTO_TEST_SUITE_END()
