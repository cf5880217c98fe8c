#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/random.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "framework/eval/text_metrics.hpp"
#include "tests/eval/made_counts.hpp"

using namespace softalign;
using namespace softalign::test;
using boost::test_tools::tolerance;

namespace {

double value(const std::string& metric, const std::vector<MadeCounts>& sentences) {
  return value_of(metric, made_counts(sentences));
}

MadeCounts translated(const std::string& hypothesis, const std::string& reference) {
  const BleuStats bleu = bleu_stats(unicode_words(hypothesis), unicode_words(reference));
  const ChrfStats chrf = chrf_stats(hypothesis, reference);
  return {{"bleu_stats", {bleu.begin(), bleu.end()}}, {"chrf_stats", {chrf.begin(), chrf.end()}}};
}

// Two sentences, the second three times longer, so that averages over sentences would be wrong.
const std::vector<MadeCounts> kTwo = {{{"nll", {2}},
                                       {"correct_tokens", {1}},
                                       {"target_tokens", {2}},
                                       {"free_running_hits", {0}},
                                       {"free_running_positions", {1}},
                                       {"pointing_hits", {1}},
                                       {"pointing_tokens", {1}},
                                       {"attention_entropy", {0.5}},
                                       {"attention_steps", {2}},
                                       {"exact", {1}}},
                                      {{"nll", {2}},
                                       {"correct_tokens", {5}},
                                       {"target_tokens", {6}},
                                       {"free_running_hits", {2}},
                                       {"free_running_positions", {3}},
                                       {"pointing_hits", {0}},
                                       {"pointing_tokens", {3}},
                                       {"attention_entropy", {1.5}},
                                       {"attention_steps", {6}},
                                       {"exact", {0}}}};

// A sentence of 2 tokens with all data that metrics can use.
struct Whole {
  std::vector<Token> source = {4, 5}, target = {6, 7};
  std::vector<Link> links = {{0, 0, true}, {1, 1, true}};
  TeacherForced forced{
      3, {6, 7, 1}, {6, 9, 1}, {3, 3, {.8f, .1f, .1f, .6f, .2f, .2f, 0, 0, 1}}, {}, {}};
  Decoded decoded{{6, 7}, "six seven", {6, 7}, -1};
  Examples pairs;
  std::optional<IbmModel1> ibm_model1;
  EvaluatedSentence sentence;

  Whole() {
    sentence.example = {source, target, links, "four five", "six seven"};
    pairs.append(sentence.example);
    ibm_model1.emplace(pairs);
    sentence.forced = &forced;
    sentence.decoded = &decoded;
    sentence.attention = &forced.attention;
    sentence.links = links;
    sentence.ibm_model1 = &*ibm_model1;
  }
  CountTable counted() const {
    CountTable table(count_layout(default_metrics()), 1);
    table.count(0, sentence);
    return table;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(by_hand) {
  BOOST_TEST(value("loss", kTwo) == 4. / 8);
  BOOST_TEST(value("perplexity", kTwo) == std::exp(0.5), tolerance(1e-15));
  BOOST_TEST(value("token_accuracy", kTwo) == 75.0);
  BOOST_TEST(value("free_running_accuracy", kTwo) == 50.0);
  BOOST_TEST(value("exact_match", kTwo) == 50.0);
  BOOST_TEST(value("pointing_accuracy", kTwo) == 25.0);
  BOOST_TEST(value("attention_entropy", kTwo) == 0.25);
}

BOOST_AUTO_TEST_CASE(bleu_and_chrf_are_the_corpus_s) {
  const std::vector<MadeCounts> both{translated("a b c d", "a b c d"),
                                     translated("a b x y", "a b z w")};
  // 6 of 8, 4 of 6, 2 of 4, 1 of 2.
  BOOST_TEST(value("bleu", both) == 100 * std::pow(6. / 8 * 4 / 6 * 2 / 4 * 1 / 2, 0.25),
             tolerance(1e-12));
  // The same, as every word is one letter; precision equals recall.
  BOOST_TEST(value("chrf", both) == 100 * (6. / 8 + 4. / 6 + 2. / 4 + 1. / 2) / 4,
             tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(bleu_is_undefined_where_no_reference_has_4_tokens) {
  const std::vector<MadeCounts> right{translated("8", "8"), translated("a b c", "a b c")};
  BOOST_TEST(std::isnan(value("bleu", right)));
  BOOST_TEST(value("chrf", right) == 100.0);
  BOOST_TEST(std::isnan(value("bleu", {translated("a b c d", "a b c")})));
  BOOST_TEST(value("bleu", {translated("8", "8"), translated("x y", "a b c d")}) == 0.0);
}

BOOST_AUTO_TEST_CASE(the_brevity_penalty_is_the_corpus_s) {
  BOOST_TEST(value("brevity_penalty", {translated("a b c", "a b"), translated("a", "a b c")}) ==
             std::exp(1 - 5. / 4));
  BOOST_TEST(value("brevity_penalty", {translated("a b c", "a b")}) == 1);
  BOOST_TEST(value("brevity_penalty", {translated("", "a b")}) == 0);
  BOOST_TEST(std::isnan(value("brevity_penalty", {translated("a", "")})));
}

BOOST_AUTO_TEST_CASE(the_length_ratio_is_the_corpus_s) {
  BOOST_TEST(value("length_ratio", {translated("a b c", "a b"), translated("", "a b c")}) ==
             3. / 5);
  BOOST_TEST(std::isnan(value("length_ratio", {translated("a", "")})));
}

// Returns the number of edits from the first n words of `from` to the first m words of `to`, by the definition.
Index edits(std::span<const std::string> from, std::span<const std::string> to) {
  if (from.empty() || to.empty()) return std::ssize(from) + std::ssize(to);
  const auto less = [](std::span<const std::string> words) {
    return words.first(words.size() - 1);
  };
  return std::min({edits(less(from), less(to)) + (from.back() == to.back() ? 0 : 1),
                   edits(less(from), to) + 1,
                   edits(from, less(to)) + 1});
}

BOOST_AUTO_TEST_CASE(the_token_error_rate_counts_the_fewest_edits) {
  const auto counted = [](const std::string& hypothesis,
                          const std::string& reference,
                          std::vector<std::string> further = {}) {
    Whole whole;
    whole.decoded.text = hypothesis;
    whole.sentence.example.target_text = reference;
    whole.sentence.references = further;
    const CountTable table = whole.counted();
    const double* counts =
        table.row(0).data() + static_cast<std::ptrdiff_t>(table.layout().place("word_errors", 2));
    return std::pair(counts[0], counts[1]);
  };
  BOOST_TEST((counted("a b c", " a  b c") == std::pair(0., 3.)));
  BOOST_TEST((counted("a x c", "a b c") == std::pair(1., 3.)));    // substituted
  BOOST_TEST((counted("a c", "a b c") == std::pair(1., 3.)));      // deleted
  BOOST_TEST((counted("a b b c", "a b c") == std::pair(1., 3.)));  // inserted
  BOOST_TEST((counted("b c d a", "a b c d") == std::pair(2., 4.)));
  BOOST_TEST((counted("", "a b") == std::pair(2., 2.)));
  BOOST_TEST((counted("x y z", "a") == std::pair(3., 1.)));
  // The lowest rate: 2 of 4, not 1 of 1; the first of two.
  BOOST_TEST((counted("a b", "x", {"a b c d", ""}) == std::pair(2., 4.)));
  BOOST_TEST((counted("a", "b", {"c d"}) == std::pair(1., 1.)));
  BOOST_TEST(value("token_error_rate", {{{"word_errors", {3, 1}}}, {{"word_errors", {0, 3}}}}) ==
             75.0);
  BOOST_TEST(value("token_error_rate", {{{"word_errors", {3, 1}}}}) == 300.0);
  const RandomStream stream(3, "words");
  for (std::uint64_t i = 0; i < 200; ++i) {
    std::vector<std::string> sides[2];
    std::string texts[2];
    for (std::uint32_t side = 0, k = 2; side < 2; ++side)
      for (std::uint32_t left = stream.below(7, side, i); left > 0; --left, ++k) {
        sides[side].push_back(std::string(1, static_cast<char>('a' + stream.below(3, k, i))));
        texts[side] += sides[side].back() + " ";
      }
    BOOST_TEST(counted(texts[0], texts[1]).first == edits(sides[0], sides[1]));
  }
}

BOOST_AUTO_TEST_CASE(columns_of_one_name_are_the_same_column) {
  const CountColumn column = metric_named("exact_match")->columns().front();
  CountColumn other = column;
  BOOST_TEST(CountLayout({column, other}).width() == 1);
  other.count = [](const EvaluatedSentence&, std::span<double> to) { to[0] = 7; };
  BOOST_CHECK_THROW(CountLayout({column, other}), SpecError);
  other = column;
  other.width = 2;
  BOOST_CHECK_THROW(CountLayout({column, other}), SpecError);
}

BOOST_AUTO_TEST_CASE(columns_count_what_a_sentence_shows) {
  const CountTable table = Whole().counted();
  BOOST_TEST(value_of("loss", table) == 1.0);
  BOOST_TEST(value_of("token_accuracy", table) == 100. * 2 / 3, tolerance(1e-14));
  BOOST_TEST(value_of("exact_match", table) == 100.0);
  BOOST_TEST(value_of("free_running_accuracy", table) == 100.0);
  BOOST_TEST(value_of("chrf", table) == 100.0);
  BOOST_TEST(value_of("pointing_accuracy", table) == 50.0);  // both point at the first
  BOOST_TEST(std::isfinite(value_of("pointing_accuracy_ibm_model1", table)));
  const double entropy = -(.8 * std::log(.8) + .2 * std::log(.1)) -
                         (.6 * std::log(.6) + .4 * std::log(.2));  // the last step has none
  BOOST_TEST(value_of("attention_entropy", table) == entropy / 3, tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(errors_of_numbers_are_over_all_numbers_of_the_references) {
  Whole whole;
  const auto error =
      [&](const std::string& metric, const std::string& hypothesis, std::string_view reference) {
        whole.decoded.text = hypothesis;
        whole.sentence.example.target_text = reference;
        return value_of(metric, whole.counted());
      };
  BOOST_TEST(std::isnan(error("mean_absolute_error", "1 2", "1 2")));  // a task with words
  whole.sentence.of_numbers = true;
  BOOST_TEST(error("mean_absolute_error", "1 2.5 -3", "2 2.5 4") == 8. / 3, tolerance(1e-15));
  BOOST_TEST(error("rmse", "1 2.5 -3", "2 2.5 4") == std::sqrt(50. / 3), tolerance(1e-15));
  BOOST_TEST(error("rmse", "1 2 50", "2 2") == std::sqrt(0.5), tolerance(1e-15));
  // Undefined if one value is missing, even if other sentences have all.
  for (const std::string hypothesis : {"", "2", "2 <unk>"})
    for (const std::string metric : {"rmse", "mean_absolute_error"}) {
      BOOST_TEST(std::isnan(error(metric, hypothesis, "2 2")));
      CountTable two = made_counts({{}, {}});
      two.count(0, whole.sentence);
      whole.decoded.text = "2 3";
      two.count(1, whole.sentence);
      BOOST_TEST(std::isnan(value_of(metric, two)));
    }
}

BOOST_AUTO_TEST_CASE(the_main_metrics_of_numbers_are_their_errors_and_the_likelihood) {
  Whole whole;
  const auto main = [&] {
    const MetricTable table = summarize(whole.counted(), default_metrics());
    std::vector<std::string> names;
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      if (table.facts[m].main) names.push_back(table.metrics[m]);
    return names;
  };
  const auto of_words = main();
  BOOST_TEST(std::ranges::count(of_words, "bleu") == 1);
  BOOST_TEST(std::ranges::count(of_words, "mean_absolute_error") == 0);
  whole.decoded.text = "1 2";
  whole.sentence.example.target_text = "1 3";
  whole.sentence.of_numbers = true;
  BOOST_TEST((main() == std::vector<std::string>{"loss", "mean_absolute_error", "rmse"}));
}

// Every metric is undefined over no sentences, over sentences without data, and without the data that it needs.
BOOST_AUTO_TEST_CASE(a_metric_is_undefined_where_what_it_counts_was_not_measured) {
  const Whole whole;
  const CountTable nothing = made_counts({{}, {}});
  for (const NamedMetric& named : default_metrics()) {
    BOOST_TEST_CONTEXT(named.name) {
      BOOST_TEST(std::isnan(named.metric->value({nothing.layout(), {}})));
      BOOST_TEST(std::isnan(value_of(named.name, nothing)));
      for (const CountColumn& column : named.metric->columns()) {
        Whole part;
        if (column.source == CountSource::forced) part.sentence.forced = nullptr;
        if (column.source == CountSource::decoded) part.sentence.decoded = nullptr;
        if (column.source == CountSource::attention) part.sentence.attention = nullptr;
        if (column.source == CountSource::baseline) part.sentence.ibm_model1 = nullptr;
        BOOST_TEST(std::isnan(value_of(named.name, part.counted())));
      }
    }
  }
  Whole no_links;
  no_links.sentence.links = no_links.sentence.example.links = {};
  BOOST_TEST(std::isnan(value_of("pointing_accuracy", no_links.counted())));
  BOOST_TEST(std::isnan(value_of("pointing_accuracy_ibm_model1", no_links.counted())));
}

BOOST_AUTO_TEST_CASE(all_are_registered_by_name_and_know_their_facts) {
  std::vector<std::string> names, lower, searched, main;
  for (const NamedMetric& named : default_metrics()) {
    const MetricFacts facts = named.metric->facts();
    names.push_back(named.name);
    if (facts.higher_is_better == false) lower.push_back(named.name);
    if (facts.searched) searched.push_back(named.name);
    if (facts.main) main.push_back(named.name);
    const bool of_errors = named.name == "cut_off" || named.name == "token_error_rate" ||
                           named.name.starts_with("aer");
    BOOST_TEST((facts.units == "percent" && !of_errors) == (facts.higher_is_better == true));
    BOOST_TEST(facts.of_rows == (named.name == "aer" || named.name == "pointing_accuracy"));
    BOOST_TEST((facts.units == "percent" && named.name != "token_error_rate") ==
               (facts.most == 100));
    BOOST_TEST(facts.signature.empty() ==
               (!named.name.starts_with("bleu") && named.name != "chrf"));
    BOOST_TEST(!facts.title.empty());
    BOOST_TEST(!named.metric->columns().empty());
  }
  using Names = std::vector<std::string>;
  BOOST_TEST(names == (Names{"aer",
                             "aer_ibm_model1",
                             "attention_entropy",
                             "bleu",
                             "brevity_penalty",
                             "chrf",
                             "cut_off",
                             "exact_match",
                             "free_running_accuracy",
                             "length_ratio",
                             "loss",
                             "mean_absolute_error",
                             "perplexity",
                             "pointing_accuracy",
                             "pointing_accuracy_ibm_model1",
                             "rmse",
                             "token_accuracy",
                             "token_error_rate"}));
  BOOST_TEST(lower == (Names{"aer",
                             "aer_ibm_model1",
                             "attention_entropy",
                             "cut_off",
                             "loss",
                             "mean_absolute_error",
                             "perplexity",
                             "rmse",
                             "token_error_rate"}));
  BOOST_TEST(searched == (Names{"bleu",
                                "brevity_penalty",
                                "chrf",
                                "cut_off",
                                "exact_match",
                                "free_running_accuracy",
                                "length_ratio",
                                "mean_absolute_error",
                                "rmse",
                                "token_error_rate"}));
  BOOST_TEST(main == (Names{"bleu",
                            "exact_match",
                            "length_ratio",
                            "perplexity",
                            "pointing_accuracy",
                            "token_accuracy"}));
  BOOST_CHECK_THROW(highest_is_best("length_ratio"), SpecError);
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
}

BOOST_AUTO_TEST_CASE(a_match_is_exact_by_its_text_and_unk_never_is) {
  BOOST_TEST(is_exact(std::vector<Token>{5, 6}, "a b", "a  b "));
  BOOST_TEST(!is_exact(std::vector<Token>{5, 6}, "a b", "ab"));
  BOOST_TEST(!is_exact(std::vector<Token>{5}, "a", "a b"));
  BOOST_TEST(!is_exact(std::vector<Token>{5, kUnknown}, "a <unk>", "a <unk>"));
  BOOST_TEST(is_exact(std::vector<Token>{5, kUnknown}, "a zehn", "a zehn", 1));
  BOOST_TEST(!is_exact(std::vector<Token>{kUnknown, kUnknown}, "<unk> zehn", "<unk> zehn", 1));
  Whole other_pieces;
  other_pieces.decoded.tokens = {4, 5, 8};
  BOOST_TEST(value_of("exact_match", other_pieces.counted()) == 100.0);
  BOOST_TEST(value_of("free_running_accuracy", other_pieces.counted()) == 100.0);
}

BOOST_AUTO_TEST_CASE(words_in_place_of_unk_match_by_their_text) {
  const auto accuracy = [](const std::string& text, std::vector<Link> replaced) {
    Whole one;
    one.target = {kUnknown, kUnknown, 7};
    one.sentence.example.target = one.target;
    one.sentence.example.target_text = "zehn elf seven";
    one.decoded = {{kUnknown, kUnknown, 7}, text, {kUnknown, kUnknown, 7}, -1, true, replaced};
    return value_of("free_running_accuracy", one.counted());
  };
  const std::vector<Link> both = {{0, 0}, {1, 1}};
  BOOST_TEST(accuracy("zehn elf seven", both) == 100.0);
  BOOST_TEST(accuracy("zehn zehn seven", both) == 100.0 * 2 / 3);
  BOOST_TEST(accuracy("zehn <unk> seven", {both[0]}) == 100.0 / 3);
}

BOOST_AUTO_TEST_SUITE_END()
