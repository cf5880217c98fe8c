#include "framework/eval/summary.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/error.hpp"

using namespace softalign;

namespace {

SentenceResult with_tokens(Index hits, Index total) {
  SentenceResult result;
  result.teacher_forced = {hits, total};
  result.nll = 0.5 * static_cast<double>(total);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(summary)

BOOST_AUTO_TEST_CASE(all_sentences_then_each_bucket) {
  const std::vector<SentenceResult> sentences{
      with_tokens(1, 4), with_tokens(4, 4), with_tokens(1, 2)};
  const Buckets buckets{{"1-2", "3-4", "5-9"}, {1, 0, 1}};
  const MetricTable table = summarize(sentences, all_metrics(), buckets);

  BOOST_TEST(table.rows == (std::vector<std::string>{"all", "1-2", "3-4", "5-9"}));
  BOOST_TEST(table.sentences == (std::vector<Index>{3, 1, 2, 0}));
  BOOST_TEST(table.values.size() == table.rows.size() * table.metrics.size());
  BOOST_TEST(table.at("all", "token_accuracy") == 60.0);
  BOOST_TEST(table.at("1-2", "token_accuracy") == 100.0);
  BOOST_TEST(table.at("3-4", "token_accuracy") == 100. / 3, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::isnan(table.at("5-9", "token_accuracy")));
  BOOST_TEST(table.at("3-4", "loss") == 0.5);
  BOOST_TEST(table.metrics.size() == table.units.size());
  BOOST_TEST(table.metrics.size() == table.signatures.size());
}

BOOST_AUTO_TEST_CASE(no_buckets_give_one_row) {
  const MetricTable table = summarize({with_tokens(1, 2)}, all_metrics());
  BOOST_TEST(table.rows == std::vector<std::string>{"all"});
  BOOST_TEST(table.at("all", "token_accuracy") == 50.0);
}

BOOST_AUTO_TEST_CASE(refuses_what_does_not_fit) {
  const std::vector<SentenceResult> one{with_tokens(1, 2)};
  BOOST_CHECK_THROW(summarize(one, all_metrics(), {{"1-2"}, {}}), Error);
  BOOST_CHECK_THROW(summarize(one, all_metrics(), {{"1-2"}, {1}}), Error);
  BOOST_CHECK_THROW(summarize(one, all_metrics(), {{"1-2"}, {-1}}), Error);
  BOOST_CHECK_EXCEPTION(
      summarize(one, all_metrics()).at("all", "blue"), Error, [](const Error& error) {
        return std::string(error.what()).find("did you mean 'bleu'?") != std::string::npos;
      });
}

BOOST_AUTO_TEST_SUITE_END()
