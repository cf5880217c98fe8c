// Output layer gaussian: the symbols that it refuses, and its most probable symbol.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/random.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/plugin.hpp"
#include "framework/seq/model.hpp"
#include "tests/message.hpp"

using namespace softalign;

namespace {

std::unique_ptr<OutputLayer> gaussian(ParameterStore& store,
                                      Index readout,
                                      const TargetFormat& target) {
  return make_plugin<OutputLayerKind>(Choice{.kind = "output_layer", .type = "gaussian"},
                                      Parameters(store),
                                      OutputSizes{.readout = readout,
                                                  .symbols = target.symbols,
                                                  .tied = nullptr,
                                                  .values = target.values,
                                                  .not_a_number = target.not_a_number});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gaussian_layer)

BOOST_AUTO_TEST_CASE(symbols_are_different_numbers) {
  const auto refusal = [](const std::vector<std::string>& symbols) {
    ParameterStore store;
    const TargetFormat target(*symbol_vocabulary(symbols));
    return test::refusal([&] { gaussian(store, 2, target); });
  };
  BOOST_TEST(refusal({"1", "-2", "0.5"}) == "accepted");
  BOOST_TEST(refusal({"7"}) == "accepted");
  BOOST_TEST(test::contains(refusal({"1", "two"}), "the target symbol 'two' is not a number"));
  BOOST_TEST(test::contains(refusal({"1", "2", "1.0"}), "two target symbols are the number 1"));
}

BOOST_AUTO_TEST_CASE(a_model_passes_on_the_numbers_of_its_vocabulary) {
  ModelOptions options;
  options.embedding = 3;
  options.output.type = "gaussian";
  const Model model(
      options, FrameFormat{.size = 1}, TargetFormat(*symbol_vocabulary({"2", "1"})), 1);
  BOOST_TEST(model.target_symbols() == kSpecials + 2);
  BOOST_CHECK_THROW(
      Model(options, FrameFormat{.size = 1}, TargetFormat(*symbol_vocabulary({"2", "b"})), 1),
      SpecError);
}

// The layer's search for the best symbol skips most bins. Its result must be the symbol with the largest logit, for
// bins of any widths in any order, narrow and wide deviations, and means beyond both ends.
BOOST_AUTO_TEST_CASE(the_best_symbol_is_that_of_the_largest_logit) {
  const RandomStream stream(3, "values");
  TargetFormat target = Index{kSpecials + 40};
  for (std::size_t v = kSpecials; v < target.values.size(); ++v)
    target.values[v] = std::exp(2 * stream.normal(v));
  ParameterStore store;
  const auto layer = gaussian(store, 3, target);
  store.allocate(1);
  const View weight = store.all().front().value();
  for (Index i = 0; i < 9; ++i) weight.data[i] = i % 4 == 0 ? 1 : 0;  // the readout is mu, t, c
  constexpr Index kRows = 2000;
  std::vector<real> readouts;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    readouts.push_back(static_cast<real>(2 * stream.normal(3 * i, 1)));
    readouts.push_back(static_cast<real>(4 * stream.normal(3 * i + 1, 1)));
    readouts.push_back(static_cast<real>(4 * stream.normal(3 * i + 2, 1)));
  }
  Tape tape(Tape::Mode::infer);
  const std::vector<Index> lengths(kRows, 1);
  const AttentionMemory memory{{.lengths = lengths}};
  const OutputInput input{
      tape.constant({readouts.data(), Shape::steps_first({1, kRows, 3})}), {}, memory};
  const std::vector<Token> targets(kRows, kEnd);
  const OutputRows rows = output_rows(*layer, input, targets, {});
  losses_of(*layer, rows, {});
  const View logits = layer->logits(input).value();
  std::vector<Index> found(usize(target.symbols));
  for (Index i = 0; i < kRows; ++i) {
    const real* row = logits.data + i * target.symbols;
    BOOST_TEST(rows.best[i] == std::max_element(row, row + target.symbols) - row, i);
    ++found[usize(rows.best[i])];
  }
  BOOST_TEST(std::ranges::count(found, 0) < 25);  // most symbols are the best in some row
  BOOST_TEST(found[kEnd] > 0);
}

BOOST_AUTO_TEST_SUITE_END()
