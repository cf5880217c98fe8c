#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/eval/metric.hpp"
#include "framework/eval/unicode.hpp"

using namespace softalign;
using boost::test_tools::tolerance;

namespace {

std::shared_ptr<const Metric> metric(const std::string& name) {
  for (const NamedMetric& named : all_metrics()) {
    if (named.name == name) return named.metric;
  }
  throw std::runtime_error("no metric " + name);
}

double value(const std::string& name, const std::vector<SentenceResult>& sentences) {
  std::vector<const SentenceResult*> pointers;
  for (const SentenceResult& sentence : sentences) pointers.push_back(&sentence);
  return metric(name)->value(pointers);
}

SentenceResult translated(const std::string& hypothesis, const std::string& reference) {
  SentenceResult result;
  result.searched = true;
  result.bleu = bleu_stats(unicode_words(hypothesis), unicode_words(reference));
  result.chrf = chrf_stats(hypothesis, reference);
  return result;
}

// Two sentences that no metric may average sentence by sentence: the second is three times longer.
std::vector<SentenceResult> two() {
  SentenceResult a, b;
  a.searched = b.searched = true;
  a.nll = 2;
  a.teacher_forced = {1, 2};
  a.free_running = {0, 1};
  a.pointing = {1, 1};
  a.attention_entropy = 0.5;
  a.attention_steps = 2;
  a.exact = true;
  b.nll = 2;
  b.teacher_forced = {5, 6};
  b.free_running = {2, 3};
  b.pointing = {0, 3};
  b.attention_entropy = 1.5;
  b.attention_steps = 6;
  return {a, b};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(by_hand) {
  BOOST_TEST(value("loss", two()) == 4. / 8);
  BOOST_TEST(value("perplexity", two()) == std::exp(0.5), tolerance(1e-15));
  BOOST_TEST(value("token_accuracy", two()) == 75.0);
  BOOST_TEST(value("free_running_accuracy", two()) == 50.0);
  BOOST_TEST(value("exact_match", two()) == 50.0);
  BOOST_TEST(value("pointing_accuracy", two()) == 25.0);
  BOOST_TEST(value("attention_entropy", two()) == 0.25);
}

BOOST_AUTO_TEST_CASE(bleu_and_chrf_are_the_corpus_s) {
  const std::vector<SentenceResult> both{translated("a b c d", "a b c d"),
                                         translated("a b x y", "a b z w")};
  // 6 of 8, 4 of 6, 2 of 4, 1 of 2.
  BOOST_TEST(value("bleu", both) == 100 * std::pow(6. / 8 * 4 / 6 * 2 / 4 * 1 / 2, 0.25),
             tolerance(1e-12));
  // The same, as every word is one letter; precision equals recall.
  BOOST_TEST(value("chrf", both) == 100 * (6. / 8 + 4. / 6 + 2. / 4 + 1. / 2) / 4,
             tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(bleu_is_undefined_where_no_reference_has_4_tokens) {
  const std::vector<SentenceResult> right{translated("8", "8"), translated("a b c", "a b c")};
  BOOST_TEST(std::isnan(value("bleu", right)));
  BOOST_TEST(value("chrf", right) == 100.0);
  BOOST_TEST(std::isnan(value("bleu", {translated("a b c d", "a b c")})));
  BOOST_TEST(value("bleu", {translated("8", "8"), translated("x y", "a b c d")}) == 0.0);
}

BOOST_AUTO_TEST_CASE(undefined_without_sentences_links_or_attention) {
  for (const NamedMetric& named : all_metrics()) {
    BOOST_TEST_CONTEXT(named.name) { BOOST_TEST(std::isnan(named.metric->value({}))); }
  }
  const std::vector<SentenceResult> vanilla(1);
  BOOST_TEST(std::isnan(value("pointing_accuracy", vanilla)));
  BOOST_TEST(std::isnan(value("attention_entropy", vanilla)));
  for (const char* name : {"exact_match", "bleu", "chrf", "free_running_accuracy"})
    BOOST_TEST(std::isnan(value(name, vanilla)));  // nothing was searched for
  std::vector<SentenceResult> empty(1);
  empty[0].searched = true;
  BOOST_TEST(value("exact_match", empty) == 0.0);
}

BOOST_AUTO_TEST_CASE(all_are_registered_by_name_and_know_their_direction) {
  std::vector<std::string> names, lower;
  for (const NamedMetric& named : all_metrics()) {
    names.push_back(named.name);
    if (!named.metric->higher_is_better()) lower.push_back(named.name);
    BOOST_TEST((named.metric->units() == "percent") == named.metric->higher_is_better());
    BOOST_TEST(named.metric->signature().empty() == (named.name != "bleu" && named.name != "chrf"));
  }
  BOOST_TEST(names == (std::vector<std::string>{"attention_entropy",
                                                "bleu",
                                                "chrf",
                                                "exact_match",
                                                "free_running_accuracy",
                                                "loss",
                                                "perplexity",
                                                "pointing_accuracy",
                                                "token_accuracy"}));
  BOOST_TEST(lower == (std::vector<std::string>{"attention_entropy", "loss", "perplexity"}));
}

BOOST_AUTO_TEST_CASE(positions_match_over_the_longer_length_and_unk_never_does) {
  const auto count = [](std::vector<Token> hypothesis, std::vector<Token> reference) {
    const Count c = position_matches(hypothesis, reference);
    return std::pair(c.hits, c.total);
  };
  BOOST_TEST((count({5, 6, 7}, {5, 6, 7}) == std::pair<Index, Index>(3, 3)));
  BOOST_TEST((count({5, 6}, {5, 6, 7}) == std::pair<Index, Index>(2, 3)));
  BOOST_TEST((count({6, 5, 6, 7}, {5, 6, 7}) == std::pair<Index, Index>(0, 4)));
  BOOST_TEST((count({5, 0}, {5, 0}) == std::pair<Index, Index>(1, 2)));
  BOOST_TEST(is_exact({5, 6}, std::vector<Token>{5, 6}));
  BOOST_TEST(!is_exact({5}, std::vector<Token>{5, 6}));
  BOOST_TEST(!is_exact({5, 0}, std::vector<Token>{5, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
