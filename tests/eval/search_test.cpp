// Greedy and beam search against slow, plain versions of themselves.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/eval/beam.hpp"
#include "tests/eval/small_model.hpp"

using namespace softalign;

namespace {

// log p of each next symbol after `prefix`, for one sentence alone.
std::vector<double> next_log_probabilities(const SmallModel& setting,
                                           Index sentence,
                                           const std::vector<Token>& prefix) {
  std::vector<double> p = next_step(setting, sentence, prefix).p;
  for (double& x : p) x = std::log(x);
  return p;
}

}  // namespace

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
      const Hypothesis& hypothesis = found[static_cast<std::size_t>(b)].front();
      std::vector<Token> prefix;
      double total = 0;
      for (std::size_t step = 0; step < hypothesis.steps(); ++step) {
        auto p = next_log_probabilities(setting, b, prefix);
        p[kBegin] = -1e9;
        const auto best = std::max_element(p.begin(), p.end());
        total += *best;
        const Token token = static_cast<Token>(best - p.begin());
        const Token said = step < hypothesis.tokens.size() ? hypothesis.tokens[step] : kEnd;
        BOOST_TEST(token == said);
        prefix.push_back(token);
      }
      BOOST_TEST(std::abs(total - hypothesis.log_probability) < 1e-4);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_wide_beam_finds_what_exhaustive_search_finds) {
  const SmallModel setting;
  const BeamSettings settings{2000, 0, {0.2, 2}};  // at most 3 steps for 5 source symbols
  Tape tape(Tape::Mode::infer);
  const auto found = beam_search(*setting.model, tape, setting.all(), settings);
  // All finished sequences of at most 3 steps of sentence 0.
  double best = -1e9;
  std::vector<Token> argument;
  std::vector<std::pair<std::vector<Token>, double>> open = {{{}, 0}};
  for (int step = 0; step < 3; ++step) {
    std::vector<std::pair<std::vector<Token>, double>> longer;
    for (const auto& [prefix, log_probability] : open) {
      const auto p = next_log_probabilities(setting, 0, prefix);
      if (log_probability + p[kEnd] > best) {
        best = log_probability + p[kEnd];
        argument = prefix;
      }
      for (Token v = 0; v < 9; ++v)
        if (v != kBegin && v != kEnd) {
          longer.push_back({prefix, log_probability + p[static_cast<std::size_t>(v)]});
          longer.back().first.push_back(v);
        }
    }
    open = std::move(longer);
  }
  const Hypothesis& hypothesis = found[0].front();
  BOOST_TEST(hypothesis.finished);
  BOOST_TEST(hypothesis.tokens == argument, boost::test_tools::per_element());
  BOOST_TEST(std::abs(hypothesis.log_probability - best) < 1e-4);
}

BOOST_AUTO_TEST_CASE(a_sentence_alone_and_in_a_batch_give_the_same_hypotheses) {
  const SmallModel setting;
  const auto search =
      make_plugin<SearchKind>(Choice{.kind = "search", .type = "beam"}, std::uint64_t{1});
  Tape tape(Tape::Mode::infer);
  const auto together = search->run(*setting.model, tape, setting.all());
  for (Index b = 0; b < 3; ++b) {
    const auto alone = search->run(*setting.model, tape, setting.one(b, b));
    const auto& many = together[static_cast<std::size_t>(b)];
    BOOST_REQUIRE(alone[0].size() == many.size());
    for (std::size_t k = 0; k < many.size(); ++k) {
      BOOST_TEST(alone[0][k].tokens == many[k].tokens, boost::test_tools::per_element());
      BOOST_TEST(std::abs(alone[0][k].score - many[k].score) < 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_hypothesis_brings_its_alignment) {
  const SmallModel setting;
  const auto search =
      make_plugin<SearchKind>(Choice{.kind = "search", .type = "beam"}, std::uint64_t{1});
  Tape tape(Tape::Mode::infer);
  const auto found = search->run(*setting.model, tape, setting.all());
  for (std::size_t b = 0; b < 3; ++b)
    for (const Hypothesis& hypothesis : found[b]) {
      const auto length = static_cast<std::size_t>(setting.lengths[b]);
      BOOST_REQUIRE(hypothesis.alignment.size() == hypothesis.steps() * length);
      for (std::size_t t = 0; t < hypothesis.steps(); ++t) {
        double sum = 0;
        for (std::size_t s = 0; s < length; ++s)
          sum += static_cast<double>(hypothesis.alignment[t * length + s]);
        BOOST_TEST(std::abs(sum - 1) < 1e-5);
      }
    }
  const SmallModel plain("none");
  for (const auto& list : search->run(*plain.model, tape, plain.all()))
    BOOST_TEST(list.front().alignment.empty());
}

BOOST_AUTO_TEST_CASE(scores_are_sorted_and_normalised) {
  const SmallModel setting;
  Tape tape(Tape::Mode::infer);
  const auto found = beam_search(*setting.model, tape, setting.all(), {4, 1, {2, 10}});
  for (const auto& list : found) {
    BOOST_TEST(list.size() == 4);
    for (std::size_t k = 0; k < list.size(); ++k) {
      BOOST_TEST(std::abs(list[k].score -
                          list[k].log_probability / static_cast<double>(list[k].steps())) < 1e-12);
      if (k > 0 && list[k].finished == list[k - 1].finished)
        BOOST_TEST(list[k].score <= list[k - 1].score);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
