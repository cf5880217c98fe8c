// BLEU and chrF of several references, against sacreBLEU; freeze_references.py made the file.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "framework/eval/metric.hpp"
#include "framework/eval/text_metrics.hpp"

using namespace softalign;

namespace {

using Texts = std::vector<std::string>;

const nlohmann::json& cases() {
  static const nlohmann::json frozen = [] {
    std::ifstream file(SOFTALIGN_SOURCE_DIR "/tests/eval/sacrebleu_references.json");
    return nlohmann::json::parse(file).at("cases");
  }();
  return frozen;
}

// A hypothesis as metrics receive it; the first reference is the example's target.
struct Sentence {
  Texts references;
  Decoded decoded;
  EvaluatedSentence evaluated;

  Sentence(const std::string& hypothesis, const Texts& all)
      : references(all), decoded{{}, hypothesis, {}} {
    evaluated.example.target_text = references[0];
    evaluated.references = std::span(references).subspan(1);
    evaluated.decoded = &decoded;
  }
  std::vector<double> counts(const char* metric) const {
    const CountColumn column = metric_named(metric)->columns().at(0);
    std::vector<double> numbers(usize(column.width));
    column.count(evaluated, numbers);
    return numbers;
  }
};

// Returns the metric over sentences with these counts.
double score_of(const char* metric, const std::vector<std::vector<double>>& stats) {
  const auto known = metric_named(metric);
  std::vector<const double*> rows;
  for (const auto& row : stats) rows.push_back(row.data());
  return known->value({CountLayout(known->columns()), rows});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(several_references)

BOOST_AUTO_TEST_CASE(equal_sacrebleu) {
  BOOST_REQUIRE(cases().size() > 20u);
  for (const nlohmann::json& c : cases()) {
    const Texts hypotheses = c.at("hypotheses");
    const std::vector<Texts> references = c.at("references");
    std::vector<Texts> further;
    for (const Texts& all : references) further.push_back({all.begin() + 1, all.end()});
    BOOST_TEST_CONTEXT(c.at("name").get<std::string>()) {
      for (const char* metric : {"bleu", "chrf"}) {
        std::vector<std::vector<double>> stats;
        for (std::size_t i = 0; i < hypotheses.size(); ++i)
          stats.push_back(Sentence(hypotheses[i], references[i]).counts(metric));
        const auto expected = c.at(fmt::format("{}_stats", metric));
        BOOST_TEST((stats == expected.get<std::vector<std::vector<double>>>()));
        const double score = score_of(metric, stats);
        if (std::isfinite(score)) BOOST_TEST(std::abs(score - c.at(metric).get<double>()) < 1e-9);
      }
      BOOST_TEST(count_references(further) == c.at("references_of_each").get<std::string>());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_exact_match_is_that_of_any) {
  const auto exact = [](const char* hypothesis, const Texts& references) {
    return Sentence(hypothesis, references).counts("exact_match").at(0);
  };
  BOOST_TEST(exact("a b", {"a b", "c"}) == 1);
  BOOST_TEST(exact("c", {"a b", "c"}) == 1);
  BOOST_TEST(exact("a", {"a b", "c"}) == 0);
  BOOST_TEST(exact("", {"a b", ""}) == 0);
}

BOOST_AUTO_TEST_CASE(signatures_say_how_many) {
  BOOST_TEST(with_references(bleu_signature("none"), "var").starts_with("nrefs:var|case:mixed|"));
  BOOST_TEST(with_references(bleu_signature("13a"), "1") == bleu_signature("13a"));
  BOOST_TEST(with_references("row:read", "2") == "row:read");
  const MetricFacts facts = metric_named("chrf")->facts();
  BOOST_TEST(counts_alike(facts, with_references(facts.signature, "2")));
  BOOST_TEST(!counts_alike(facts, with_references(bleu_signature("none"), "1")));
}

BOOST_AUTO_TEST_SUITE_END()
