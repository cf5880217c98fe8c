// Greedy search against a slow, plain version of itself.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(search)

BOOST_AUTO_TEST_CASE(greedy_takes_the_most_probable_symbol) {
  for (const char* attention : {"global", "none"}) {
    const SmallModel setting(attention);
    const auto search = make_plugin<SearchKind>(
        Choice{.kind = "search", .type = "greedy"}, std::uint64_t{1}, Index{0});
    Tape tape(Tape::Mode::infer);
    const auto found = search->run(*setting.model, tape, setting.all());
    BOOST_REQUIRE(found.size() == 3);
    for (Index b = 0; b < 3; ++b) {
      const Hypothesis& hypothesis = found[usize(b)].front();
      std::vector<Token> prefix;
      double total = 0;
      for (std::size_t step = 0; step < hypothesis.steps(); ++step) {
        std::vector<double> p = next_step(setting, b, prefix).p;
        p[kBegin] = 0;
        const auto best = std::max_element(p.begin(), p.end());
        total += std::log(*best);
        const Token token = static_cast<Token>(best - p.begin());
        const Token output = step < hypothesis.tokens.size() ? hypothesis.tokens[step] : kEnd;
        BOOST_TEST(token == output);
        prefix.push_back(token);
      }
      BOOST_TEST(std::abs(total - hypothesis.log_probability) < 1e-4);
    }
  }
}

// An image of 4 x 8 pixels has 32 frames, and 8 annotations after pooling. Minimum and maximum length are equal, so
// that every hypothesis has this length.
BOOST_AUTO_TEST_CASE(ratios_count_symbols_or_annotations) {
  ModelOptions options =
      parse_spec<ModelOptions>(
          "{embedding: 8, encoder: {type: image_grid, height: 4, levels: 2, channels: [4]}}",
          "test")
          .spec;
  const Model model(options, FrameFormat{1, 4, 1}, 9, 3);
  const std::vector<float> image(32);
  const std::vector<Index> lengths = {32};
  const auto symbols = [&](const std::string& search, Index target_length = 0) {
    struct One {
      Choice search{.kind = "search"};
      void describe(OptionVisitor& v) { v("search", search, "a search"); }
    };
    const auto one = parse_spec<One>("search: {" + search + "}", "test").spec;
    Tape tape(Tape::Mode::infer);
    const auto found = make_plugin<SearchKind>(one.search, std::uint64_t{1}, target_length)
                           ->run(model, tape, {{}, 1, 32, lengths, {}, {}, image});
    const Hypothesis& best = found.front().front();
    BOOST_TEST((target_length == 0 || best.finished));
    return best.tokens.size();
  };
  for (const std::string type : {"type: greedy", "type: beam, width: 3", "type: sample"}) {
    const std::string limits = type + ", max_ratio: 1, min_ratio: 1, max_extra: 0";
    BOOST_TEST(symbols(limits) == 32u);
    BOOST_TEST(symbols(limits + ", ratio_of: symbols") == 32u);
    BOOST_TEST(symbols(limits + ", ratio_of: annotations") == 8u);
  }
  // All targets have one length; without min_ratio all outputs have it, too, for any source.
  for (const std::string type : {"type: greedy", "type: beam, width: 3", "type: sample"}) {
    BOOST_TEST(symbols(type, 5) == 5u);
    BOOST_TEST(symbols(type + ", max_ratio: 0.1, max_extra: 0", 100) == 100u);
  }
  BOOST_TEST(symbols("type: greedy, max_ratio: 1, min_ratio: 1, max_extra: 0") == 32u);
  // At least one step for any ratio.
  BOOST_TEST(symbols("type: greedy, max_ratio: 0.01, max_extra: 0") <= 1u);
}

BOOST_AUTO_TEST_SUITE_END()
