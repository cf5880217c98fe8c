#include "framework/eval/metric.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tests/eval/made_counts.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

MadeCounts with_tokens(double hits, double total) {
  return {{"correct_tokens", {hits}}, {"target_tokens", {total}}, {"nll", {0.5 * total}}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(summary)

BOOST_AUTO_TEST_CASE(all_sentences_then_each_bucket) {
  const CountTable sentences =
      made_counts({with_tokens(1, 4), with_tokens(4, 4), with_tokens(1, 2)});
  const Buckets buckets{{"1-2", "3-4", "5-9"}, {1, 0, 1}};
  const MetricTable table = summarize(sentences, default_metrics(), buckets);

  BOOST_TEST(table.rows == (std::vector<std::string>{"all", "1-2", "3-4", "5-9"}));
  BOOST_TEST(table.sentences == (std::vector<Index>{3, 1, 2, 0}));
  BOOST_TEST(table.values.size() == table.rows.size() * table.metrics.size());
  BOOST_TEST(table.at("all", "token_accuracy") == 60.0);
  BOOST_TEST(table.at("1-2", "token_accuracy") == 100.0);
  BOOST_TEST(table.at("3-4", "token_accuracy") == 100. / 3, boost::test_tools::tolerance(1e-14));
  BOOST_TEST(std::isnan(table.at("5-9", "token_accuracy")));
  BOOST_TEST(table.at("3-4", "loss") == 0.5);
  BOOST_TEST(table.metrics.size() == table.facts.size());
}

BOOST_AUTO_TEST_CASE(no_buckets_give_one_row) {
  const MetricTable table = summarize(made_counts({with_tokens(1, 2)}), default_metrics());
  BOOST_TEST(table.rows == std::vector<std::string>{"all"});
  BOOST_TEST(table.at("all", "token_accuracy") == 50.0);
}

BOOST_AUTO_TEST_CASE(refuses_what_does_not_fit) {
  const CountTable one = made_counts({with_tokens(1, 2)});
  BOOST_CHECK_THROW(summarize(one, default_metrics(), {{"1-2"}, {}}), Error);
  BOOST_CHECK_THROW(summarize(one, default_metrics(), {{"1-2"}, {1}}), Error);
  BOOST_CHECK_THROW(summarize(one, default_metrics(), {{"1-2"}, {-1}}), Error);
  BOOST_CHECK_THROW(summarize(one, default_metrics()).at("all", "blue"), Error);
}

BOOST_AUTO_TEST_SUITE_END()
