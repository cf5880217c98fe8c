// Greedy search against a slow, plain version of itself.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(search)

BOOST_AUTO_TEST_CASE(greedy_takes_the_most_probable_symbol) {
  for (const char* attention : {"global", "none"}) {
    const SmallModel setting(attention);
    const auto search =
        make_plugin<SearchKind>(Choice{.kind = "search", .type = "greedy"}, std::uint64_t{1});
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

BOOST_AUTO_TEST_SUITE_END()
