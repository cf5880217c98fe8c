#include "framework/eval/text_metrics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/eval/sacrebleu_cases.hpp"

using namespace softalign;

namespace {

BleuStats stats_of(const std::string& hypothesis, const std::string& reference) {
  return bleu_stats(unicode_words(hypothesis), unicode_words(reference));
}

BleuSums sum_of(const std::vector<BleuStats>& sentences) {
  BleuSums sum{};
  for (const BleuStats& stats : sentences)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stats[i];
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(corpus_bleu)

BOOST_AUTO_TEST_CASE(equals_sacrebleu) {
  for (const SacrebleuCase& c : sacrebleu_cases()) {
    BOOST_TEST_CONTEXT(c.name) {
      std::vector<BleuStats> stats;
      for (std::size_t i = 0; i < c.hypotheses.size(); ++i) {
        stats.push_back(stats_of(c.hypotheses[i], c.references[i]));
      }
      BOOST_TEST(std::abs(bleu(sum_of(stats)) - c.expected.at("bleu").get<double>()) < 1e-9);
      BOOST_TEST((stats == c.expected.at("bleu_stats").get<std::vector<BleuStats>>()));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_sentence_scores_0) { BOOST_TEST(bleu({}) == 0.0); }

BOOST_AUTO_TEST_CASE(signature_names_us_and_no_one_else) {
  const std::string start = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:softalign-";
  BOOST_TEST(bleu_signature("none").substr(0, start.size()) == start);
  BOOST_TEST(bleu_signature("none").size() > start.size());
}

BOOST_AUTO_TEST_SUITE_END()
