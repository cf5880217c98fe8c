// Encoders against their equations in NumPy: two sentences of unequal lengths, parameters that are
// functions of their names. tests/reference/encoders.py writes encoders.json.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/autodiff/gradient_check.hpp"
#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/plugin.hpp"
#include "framework/seq/model.hpp"

using namespace softalign;
using nlohmann::json;

namespace {

constexpr Index kEmbedding = 3;
const std::vector<Index> kLengths = {4, 2};

// Fills an array with the same numbers as the script does for this name.
void fill(const std::string& name, real* numbers, Index count) {
  Index start = 0;
  for (const char c : name) start += c;
  for (Index i = 0; i < count; ++i)
    numbers[i] = 0.6 * std::sin(static_cast<double>(start % 101) + 1.7 * static_cast<double>(i));
}

// Rows [first, first + count) of x [rows, ...].
std::vector<double> rows_of(Var x, Index first, Index count) {
  const Index each = x.shape().size() / x.shape()[0];
  const real* begin = x.value().data + first * each;
  return {begin, begin + count * each};
}

// The part `name`, as the script calls it, of the annotations of sentence b.
std::vector<double> part(const Annotations& a, const std::string& name, Index b) {
  const Index length = a.lengths[usize(b)];
  const auto positions = [&](Var x) {
    std::vector<double> all = rows_of(x, b, 1);
    all.resize(usize(length * x.shape().last()));
    return all;
  };
  if (name == "states") return positions(a.states);
  if (name == "values") return positions(a.averaged());
  if (name == "last") return rows_of(a.last, b, 1);
  if (name == "start") return rows_of(a.start, b, 1);
  std::vector<double> finals;
  for (Var one : a.finals) {
    const auto row = rows_of(one, b, 1);
    finals.insert(finals.end(), row.begin(), row.end());
  }
  return finals;
}

struct Made {
  ParameterStore store;
  std::unique_ptr<Encoder> encoder;

  explicit Made(const std::string& choice) {
    const auto options = parse_spec<ModelOptions>("encoder: " + choice, "encoder").spec;
    encoder = make_plugin<EncoderKind>(options.encoder, Parameters(store), kEmbedding);
    store.allocate(1);
    for (const Parameter& p : store.all()) fill(p.name, p.value().data, p.shape.size());
  }
};

// The sentences from index `first` to 1, padded.
Var input(Tape& tape, Index first) {
  const Index steps = kLengths[usize(first)];
  View x = tape.zeros({2 - first, steps, kEmbedding});
  for (Index b = first; b < 2; ++b)
    fill(fmt::format("sentence {}", b),
         x.data + (b - first) * steps * kEmbedding,
         kLengths[usize(b)] * kEmbedding);
  return tape.constant(x);
}

void compare(const json& expected) {
  const Made made(fmt::format("{{type: {}, {}}}",
                              expected["encoder"].get<std::string>(),
                              expected["options"].get<std::string>()));
  Tape tape(Tape::Mode::infer);
  const Annotations a = made.encoder->encode({input(tape, 0), kLengths});
  for (Index b = 0; b < 2; ++b)
    for (const auto& [name, numbers] : expected["sentences"][usize(b)].items()) {
      const std::vector<double> found = part(a, name, b);
      BOOST_REQUIRE_EQUAL(found.size(), numbers.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        BOOST_TEST(std::abs(found[i] - numbers[i].get<double>()) < 1e-12,
                   name << " of sentence " << b << ", number " << i);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(encoders)

BOOST_AUTO_TEST_CASE(encoders_are_their_equations) {
  std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/reference/encoders.json");
  const json cases = json::parse(file);
  BOOST_TEST(cases.size() > 30u);
  for (const json& one : cases)
    BOOST_TEST_CONTEXT(one["encoder"] << " " << one["options"]) compare(one);
}

// A mask depends on the sentence and the update, not on the rest of the batch, and without noise there is no
// mask. tests/gradient/ tests the formulas of the masks.
BOOST_AUTO_TEST_CASE(dropout_of_layers_and_states) {
  const std::string plain = "units: 4, layers: 2", of_input = plain + ", dropout: 0.5",
                    of_state = plain + ", recurrent_dropout: 0.5";
  const auto states = [](const std::string& choice, Index first, std::uint64_t update) {
    const Made made(choice);
    const std::vector<Index> examples = {12, 7};
    const auto rows = usize(first);
    const Noise noise{5, update, std::span(examples).subspan(rows)};
    Tape tape(Tape::Mode::infer);
    if (update > 0) tape.set_noise(&noise);
    const Annotations a =
        made.encoder->encode({input(tape, first), std::span(kLengths).subspan(rows)});
    std::vector<double> second = rows_of(a.states, 1 - first, 1);  // states of the second sentence
    second.resize(2 * 8);
    return second;
  };
  for (const std::string type : {"rnn", "gru", "lstm"}) BOOST_TEST_CONTEXT(type) {
      const auto choice = [&](const std::string& options) {
        return fmt::format("{{type: {}, {}}}", type, options);
      };
      const auto without = states(choice(plain), 0, 1);
      for (const std::string& options : {of_input, of_state}) {
        const auto now = states(choice(options), 0, 1);
        BOOST_TEST(now == states(choice(options), 1, 1));  // alone in a batch
        BOOST_TEST(now != states(choice(options), 0, 2));
        BOOST_TEST(now != without);
        BOOST_TEST(states(choice(options), 0, 0) == without);
      }
    }
}

// The conformance suite checks the defaults; this checks several layers, residual connections and masks.
BOOST_AUTO_TEST_CASE(gradients_of_stacks) {
  for (const std::string choice :
       {"{type: lstm, units: 3, layers: 3, residual: true, dropout: 0.2, recurrent_dropout: 0.3}",
        "{type: gru, units: 3, layers: 2, direction: backward, recurrent_dropout: 0.3}",
        "{type: rnn, units: 3, layers: 2, residual: true, dropout: 0.4}",
        "{type: gru, units: 3, layers: 2, project: 4}",
        "{type: pyramidal_lstm, units: 3, layers: 2, dropout: 0.2, recurrent_dropout: 0.3}",
        "{type: pyramidal_lstm, units: 3, layers: 2, reduction: 3}",
        "{type: convolutional, units: 4, layers: 2, value_layers: 1, width: 5}",
        "{type: lstmn, units: 4, values: cells}",
        "{type: gated_convolutional, units: 4, layers: 3, width: 5, dropout: 0.3}",
        "{type: stack, first: {type: gated_convolutional, units: 3, layers: 1}, second: {type: "
        "lstmn, units: 3}, third: {type: self_attention, units: 4, heads: 2, feed_forward: 3}}"}) {
    Made made(choice);
    const std::vector<Index> examples = {12, 7};
    const Noise noise{5, 1, examples};
    std::vector<real> numbers(usize(2 * kLengths[0] * kEmbedding));
    fill("embedded", numbers.data(), std::ssize(numbers));
    const GradientCheck result = check_gradients(
        [&](Tape& tape, const std::vector<Var>& x) {
          tape.set_noise(&noise);
          const Annotations a = made.encoder->encode({x[0], kLengths});
          std::vector<Var> outputs = {mean_prefix(a.states, a.lengths), a.last, a.start};
          if (a.values) outputs.push_back(mean_prefix(a.values, a.lengths));
          outputs.insert(outputs.end(), a.finals.begin(), a.finals.end());
          return outputs;
        },
        {{numbers.data(), {2, kLengths[0], kEmbedding}}},
        &made.store,
        20);
    BOOST_TEST_CONTEXT(choice << ": " << result.where) BOOST_TEST(result.worst < 1e-5);
    BOOST_TEST(result.checked > 100);
  }
}

// Each upper layer reads pairs of positions, so an annotation covers four; the last one may cover fewer.
BOOST_AUTO_TEST_CASE(a_pyramid_has_fewer_annotations) {
  const Made made("{type: pyramidal_lstm, units: 2, layers: 3}");
  const std::vector<Index> annotations = {1, 1, 1, 1, 2, 2, 2, 2, 3};  // for lengths 1 to 9
  for (Index length = 1; length <= std::ssize(annotations); ++length) {
    BOOST_TEST(made.encoder->positions(length) == annotations[usize(length - 1)]);
    BOOST_TEST(made.encoder->position_of(length - 1) == annotations[usize(length - 1)] - 1);
  }
}

// The gradient of the annotations is divided for the layers below; the gradient of the embeddings that are added to the
// values is not (Gehring et al. 2017, section 3.4).
BOOST_AUTO_TEST_CASE(gradients_are_divided_among_attentions) {
  const auto gradient = [](Index attentions, bool of_values) {
    const Made made(fmt::format(
        "{{type: gated_convolutional, units: 4, layers: 2, attentions: {}}}", attentions));
    std::vector<real> numbers(usize(2 * kLengths[0] * kEmbedding)), result(numbers.size());
    std::vector<real> of_parameters(usize(made.store.flat_size()));
    fill("embedded", numbers.data(), std::ssize(numbers));
    Tape tape(Tape::Mode::train, of_parameters.data());
    Var x = tape.leaf({numbers.data(), {2, kLengths[0], kEmbedding}}, result.data());
    const Annotations a = made.encoder->encode({x, kLengths});
    tape.backward(sum(mean_prefix(of_values ? a.values : a.states, kLengths)));
    return result;
  };
  const auto whole = gradient(1, false), part = gradient(4, false), values = gradient(1, true),
             of_part = gradient(4, true);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    BOOST_TEST(std::abs(part[i] - whole[i] / 4) < 1e-12);
    BOOST_TEST(std::abs((values[i] - of_part[i]) - (whole[i] - part[i])) < 1e-12);
  }
}

BOOST_AUTO_TEST_CASE(stacks_join_positions_final_states_and_weights) {
  const Made made(
      "{type: stack, first: {type: self_attention, layers: 2, heads: 2, units: 4}, second: {type: "
      "lstm, units: 3, direction: both}, third: {type: stack, first: lstmn, second: "
      "{type: self_attention, layers: 1, heads: 2, units: 4}}}");
  Tape tape(Tape::Mode::infer);
  HeadWeights heads;
  const Annotations a =
      made.encoder->encode({.embedded = input(tape, 0), .lengths = kLengths, .heads = &heads});
  BOOST_TEST(made.encoder->attends());
  BOOST_TEST(made.encoder->size() == 4);
  BOOST_TEST(made.encoder->final_sizes() == (std::vector<Index>{6, 6, 256, 256}),
             boost::test_tools::per_element());
  BOOST_TEST(a.finals.size() == 4u);
  BOOST_TEST_REQUIRE(heads.parts.size() == 4u);  // two layers, the LSTMN, one layer
  for (std::size_t k = 0; k < 4; ++k) BOOST_TEST(heads.parts[k].layer == static_cast<Index>(k));
}

BOOST_AUTO_TEST_CASE(a_stack_reads_its_source_once) {
  const Made made(
      "{type: stack, first: {type: image_grid, height: 4, convolutions: 1, channels: [3]}}");
  BOOST_TEST((made.encoder->reads() == Encoder::Reads::frames));
  BOOST_TEST(made.encoder->frames().height == 4);
  BOOST_TEST(made.encoder->positions(12) < 12);
  BOOST_TEST(!made.encoder->attends());  // its positions are not those of the source
  BOOST_CHECK_THROW(Made("{type: stack, second: image_grid}"), SpecError);
  BOOST_CHECK_THROW(Made("{type: stack, fourth: gru}"), SpecError);
  BOOST_CHECK_THROW(Made("{type: stack, third: {units: 4}}"), SpecError);
}

BOOST_AUTO_TEST_CASE(options_without_effect_are_refused) {
  for (const std::string options : {"residual: true", "dropout: 0.1", "direction: sideways"})
    BOOST_CHECK_THROW(Made("{type: gru, " + options + "}"), SpecError);
  BOOST_CHECK_THROW(Made("{type: convolutional, width: 2}"), SpecError);
  BOOST_CHECK_THROW(Made("{type: pyramidal_lstm, layers: 1}"), SpecError);
}

BOOST_AUTO_TEST_SUITE_END()
