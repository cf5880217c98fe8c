#include "framework/eval/ngram_metrics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/eval/tokenise.hpp"
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

// Worked by hand: of 1- to 4-grams 4 of 6, 2 of 5, 1 of 4 and none of 3 are right; the missing one
// counts as half of one. As long as the reference: no brevity penalty.
BOOST_AUTO_TEST_CASE(by_hand) {
  const BleuStats stats = stats_of("a b c x d y", "a b c z d w");
  BOOST_TEST((stats == BleuStats{6, 6, 4, 2, 1, 0, 6, 5, 4, 3}));
  const double product = 4. / 6 * 2 / 5 * 1 / 4 * 0.5 / 3;
  BOOST_TEST(bleu(sum_of({stats})) == 100 * std::pow(product, 0.25),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(brevity_penalty_is_the_corpus_s) {
  // 5 + 7 words for 7 + 5: too short in one sentence, but not over the corpus.
  const std::vector both{stats_of("a b c d e", "a b c d e f g"),
                         stats_of("a b c d e f g", "a b c d e")};
  const double product = 10. / 12 * 8 / 10 * 6 / 8 * 4 / 6;
  BOOST_TEST(bleu(sum_of(both)) == 100 * std::pow(product, 0.25),
             boost::test_tools::tolerance(1e-12));
  BOOST_TEST(bleu(sum_of({both[0]})) == 100 * std::exp(1 - 7. / 5),
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(no_sentence_scores_0) { BOOST_TEST(bleu({}) == 0.0); }

BOOST_AUTO_TEST_CASE(signature_names_us_and_no_one_else) {
  const std::string start = "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:softalign-";
  BOOST_TEST(bleu_signature("none").substr(0, start.size()) == start);
  BOOST_TEST(bleu_signature("none").size() > start.size());
}

BOOST_AUTO_TEST_SUITE_END()
