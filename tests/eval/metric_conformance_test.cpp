// Conformance tests: a metric that breaks one rule fails the check of this rule, and no other.
#include "framework/eval/metric_conformance.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

using namespace softalign;

namespace {

class Made final : public Metric {
 public:
  MetricFacts about() const override { return facts; }
  std::vector<CountColumn> columns() const override { return {column}; }
  double value(const Counts& counts) const override { return value_of(counts); }

  MetricFacts facts = {.title = "symbols", .units = "1", .most = 100};
  CountColumn column = {.name = "made",
                        .long_name = "symbols of the hypothesis",
                        .source = CountSource::decoded,
                        .count = [](const EvaluatedSentence& s, std::span<double> to) {
                          to[0] = static_cast<double>(s.decoded->tokens.size());
                        }};
  double (*value_of)(const Counts&) = [](const Counts& counts) {
    return ratio(counts.sum("made"), static_cast<double>(counts.sentences()));
  };
};

// Returns the failures as "check: detail".
std::string failure(const Metric& metric) {
  std::string text;
  for (const ConformanceResult& result : check_metric(metric))
    if (!result.passed) text += result.check + ": " + result.detail;
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metric_conformance)

BOOST_AUTO_TEST_CASE(a_right_one_passes) { BOOST_TEST(failure(Made()) == ""); }

BOOST_AUTO_TEST_CASE(all_that_are_registered_pass) {
  const std::vector<NamedMetric> metrics = default_metrics();
  BOOST_TEST(metrics.size() > 10);
  for (const auto& [name, metric] : metrics)
    BOOST_TEST_CONTEXT(name) BOOST_TEST(failure(*metric) == "");
}

BOOST_AUTO_TEST_CASE(a_column_says_what_it_is) {
  Made metric;
  metric.column.long_name = {};
  BOOST_TEST(failure(metric).starts_with("columns: "));
  metric = {};
  metric.column.count = nullptr;
  BOOST_TEST(failure(metric).starts_with("columns: "));
  metric = {};
  metric.column.width = 3;
  for (const char* part : {"", "a/b"}) {
    metric.column.part = part;
    BOOST_TEST(failure(metric).starts_with("columns: "));
  }
  metric = {};
  metric.column.units = "\xff";
  BOOST_TEST(failure(metric).starts_with("columns: "));
  metric = {};
  metric.facts.title = std::string("a\0b", 3);
  BOOST_TEST(failure(metric).starts_with("values: "));
}

// As in a record, where each name is one dataset.
BOOST_AUTO_TEST_CASE(a_column_has_names_of_its_own) {
  Made metric;
  metric.column.name = "hypothesis";
  BOOST_TEST(failure(metric).starts_with("company: "));
  metric = {};
  metric.column.width = 2;
  metric.column.count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = to[1] = 1; };
  metric.value_of = [](const Counts& counts) {
    return ratio(counts.sums<2>("made")[0], static_cast<double>(counts.sentences()));
  };
  metric.column.part = "made_stat";
  BOOST_TEST(failure(metric) == "");
  for (const char* part : {"sentence", "made", "bleu_stats", "bleu_stat"}) {  // the last has 10
    metric.column.part = part;
    BOOST_TEST(failure(metric).starts_with("company: "));
  }
}

BOOST_AUTO_TEST_CASE(a_count_reads_only_what_it_is_count_source) {
  for (const CountSource source :
       {CountSource::forced, CountSource::attention, CountSource::baseline}) {
    Made metric;
    metric.column.source = source;
    BOOST_TEST(failure(metric).starts_with("counts: "));
  }
}

BOOST_AUTO_TEST_CASE(a_count_fills_its_numbers_and_no_more) {
  Made metric;
  metric.column.width = 2;
  metric.column.part = "made_stat";
  metric.value_of = [](const Counts& counts) { return ratio(counts.sums<2>("made")[0], 1); };
  BOOST_TEST(failure(metric).starts_with("counts: "));
  metric = {};
  metric.column.count = [](const EvaluatedSentence&, std::span<double> to) {
    std::fill_n(to.data(), 2, 1.0);
  };
  BOOST_TEST(failure(metric).starts_with("counts: "));
  metric.column.count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = 0.5; };
  BOOST_TEST(failure(metric).starts_with("counts: "));
}

BOOST_AUTO_TEST_CASE(a_value_is_in_its_range_and_defined_only_by_sentences_that_were_measured) {
  Made metric;
  metric.facts.most = 1;
  BOOST_TEST(failure(metric).starts_with("values: "));
  using Value = double (*)(const Counts&);
  for (const Value wrong : {Value([](const Counts&) { return 0.0; }),
                            Value([](const Counts& counts) { return counts.sum("other"); }),
                            Value([](const Counts&) -> double { throw 7; })}) {
    metric = {};
    metric.value_of = wrong;
    BOOST_TEST(failure(metric).starts_with("values: "), failure(metric));
  }
}

BOOST_AUTO_TEST_SUITE_END()
