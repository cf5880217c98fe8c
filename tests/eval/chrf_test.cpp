#include "framework/eval/text_metrics.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/eval/sacrebleu_cases.hpp"

using namespace softalign;

namespace {

ChrfSums sum_of(const std::vector<ChrfStats>& sentences) {
  ChrfSums sum{};
  for (const ChrfStats& stats : sentences)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += stats[i];
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(corpus_chrf)

BOOST_AUTO_TEST_CASE(equals_sacrebleu) {
  for (const SacrebleuCase& c : sacrebleu_cases()) {
    BOOST_TEST_CONTEXT(c.name) {
      std::vector<ChrfStats> stats;
      for (std::size_t i = 0; i < c.hypotheses.size(); ++i) {
        stats.push_back(chrf_stats(c.hypotheses[i], c.references[i]));
      }
      BOOST_TEST(std::abs(chrf(sum_of(stats)) - c.expected.at("chrf").get<double>()) < 1e-9);
      BOOST_TEST((stats == c.expected.at("chrf_stats").get<std::vector<ChrfStats>>()));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_sentence_scores_0) { BOOST_TEST(chrf({}) == 0.0); }

BOOST_AUTO_TEST_CASE(signature_names_us_and_no_one_else) {
  const std::string start = "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:softalign-";
  BOOST_TEST(chrf_signature().substr(0, start.size()) == start);
  BOOST_TEST(chrf_signature().size() > start.size());
}

BOOST_AUTO_TEST_SUITE_END()
