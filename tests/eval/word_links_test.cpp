#include "framework/eval/alignments.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>

#include "framework/data/build_vocabulary.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "tests/eval/made_counts.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

// Three words each; the first target word points at the first source word, the second at the first two, the third at
// </s>.
const AlignmentMatrix kAttention{
    4, 4, {.7F, .1F, .1F, .1F, .4F, .4F, .1F, .1F, .1F, .1F, .1F, .7F, 0, 0, 0, 1}};
const std::vector<Token> kSource = {4, 5, 9}, kTarget = {6, 7, 8};

struct Sentence {
  AlignmentMatrix attention = kAttention;
  std::vector<Link> links;
  EvaluatedSentence evaluated;

  explicit Sentence(const std::string& gold) : links(parse_links(gold, 3, 3, "gold", 1)) {
    evaluated.example = {kSource, kTarget, links, "", ""};
    evaluated.attention = &attention;
    evaluated.links = links;
  }
  double measure(const std::string& metric) const {
    CountTable table(count_layout(default_metrics()), 1);
    table.count(0, evaluated);
    return value_of(metric, table);
  }
};

double aer(const std::string& gold) { return Sentence(gold).measure("aer"); }

// Row t + 1 points at position t.
const AlignmentMatrix kBehind{4, 4, {0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

}  // namespace

BOOST_AUTO_TEST_SUITE(word_links)

BOOST_AUTO_TEST_CASE(the_error_rate_is_that_of_och_and_ney) {
  // A = 0-0 0-1 1-1, S = 0-0 2-2, P = S and 1-1: 1 - (1 + 2) / (3 + 2).
  const LinkCounts counts = link_counts(attention_links(Sentence("0-0 1p1 2-2").evaluated));
  BOOST_TEST((counts == LinkCounts{3, 1, 2, 2}));
  BOOST_TEST(aer("0-0 1p1 2-2") == 100 * (1 - 3. / 5));
  BOOST_TEST(aer("0-0 0-1 1-1") == 0.0);
  BOOST_TEST(aer("0-0 0p1 1p1") == 0.0);  // possible links cost nothing, found or not
  BOOST_TEST(aer("0-0 0p1 1p1 2p2") == 0.0);
  BOOST_TEST(aer("2-2") == 100.0);
  BOOST_TEST(aer("1p1") == 100 * (1 - 1. / 3));  // no link is sure
  BOOST_TEST(std::isnan(aer("")));
}

BOOST_AUTO_TEST_CASE(the_error_rate_is_pooled_over_sentences) {
  BOOST_TEST(value_of("aer",
                      made_counts({{{"attention_links", {3, 2, 3, 4}}},
                                   {{"attention_links", {0, 0, 0, 0}}},
                                   {{"attention_links", {2, 0, 1, 1}}}})) ==
             100 * (1 - (2. + 0 + 3 + 1) / (3 + 2 + 4 + 1)));
}

BOOST_AUTO_TEST_CASE(a_row_is_the_symbol_s_that_was_predicted_or_the_one_that_was_read) {
  Sentence sentence("0-0 1-1 2-2");
  sentence.attention = kBehind;
  BOOST_TEST(sentence.measure("pointing_accuracy") == 0.0);
  BOOST_TEST(sentence.measure("aer") == 100.0);
  sentence.evaluated.row_aligns = RowAligns::read;
  BOOST_TEST(sentence.measure("pointing_accuracy") == 100.0);
  BOOST_TEST(sentence.measure("aer") == 0.0);
  sentence.attention.weights.assign({0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0});
  BOOST_TEST(sentence.measure("pointing_accuracy") == 100 * 2. / 3);  // the last word's is at </s>
}

// Rows belong to pieces before these are joined.
BOOST_AUTO_TEST_CASE(pieces_are_joined_behind_the_convention) {
  const WordGroups words{{0, 1, 1, 2}, {0, 0, 1, 2}};
  Sentence sentence("");
  sentence.attention.weights = {0,
                                0,
                                0,
                                1,
                                0,
                                .25F,
                                .5F,
                                .25F,  // the row of the first piece
                                .5F,
                                0,
                                .5F,
                                0,
                                1,
                                0,
                                0,
                                0};
  sentence.links = {{1, 0, true}, {2, 1, false}, {0, 2, true}};
  sentence.evaluated.links = sentence.links;
  sentence.evaluated.words = &words;
  sentence.evaluated.row_aligns = RowAligns::read;
  const WordLinks found = attention_links(sentence.evaluated);
  BOOST_TEST((found.pointed == std::vector<std::vector<Index>>{{1}, {0}}));
  BOOST_TEST(found.sources == 2);
  BOOST_TEST(links_text(found.known) == "0-1 1-0");
  BOOST_TEST(sentence.measure("aer") == 0.0);
  sentence.evaluated.row_aligns = RowAligns::predicted;  // the mean of the first word is at </s>
  BOOST_TEST((attention_links(sentence.evaluated).pointed ==
              std::vector<std::vector<Index>>{{2}, {0, 1}}));
}

// t(6 | 4) and t(6 | 5) are equal; 9 does not occur in training.
BOOST_AUTO_TEST_CASE(ties_of_ibm_model1_count_as_those_of_attention) {
  Examples pairs;
  const std::vector<Token> source = {4, 5}, target = {6};
  pairs.append({.source = source, .target = target});
  const IbmModel1 model(pairs);
  const auto measure = [&](const std::string& gold, const std::string& metric) {
    Sentence sentence(gold);
    sentence.evaluated.ibm_model1 = &model;
    return sentence.measure(metric);
  };
  BOOST_TEST(measure("0-0", "pointing_accuracy_ibm_model1") == 0.0);
  BOOST_TEST(measure("0-0 1-0", "pointing_accuracy_ibm_model1") == 100.0);
  BOOST_TEST(measure("0-0", "aer_ibm_model1") == 100 * (1 - 2. / 3));
  BOOST_TEST(measure("0-1", "pointing_accuracy_ibm_model1") == 0.0);  // not in training
}

BOOST_AUTO_TEST_CASE(links_are_argmax_or_what_reaches_a_threshold) {
  const auto links = [](const AlignmentMatrix& matrix, LinkRule rule) {
    return links_text(links_of(matrix, 3, nullptr, rule));
  };
  BOOST_TEST(links(kAttention, {}) == "0-0 0-1 1-1");
  BOOST_TEST(links(kAttention, {.threshold = .5F}) == "0-0");
  BOOST_TEST(links(kAttention, {.threshold = .1F}) == "0-0 0-1 0-2 1-0 1-1 1-2 2-0 2-1 2-2");
  BOOST_TEST(links(kBehind, {.rows = RowAligns::read}) == "0-0 1-1 2-2");
  // The last word of a hypothesis that was cut at the length limit has no row.
  const AlignmentMatrix cut{3, 4, {kBehind.weights.begin(), kBehind.weights.end() - 4}};
  BOOST_TEST(links(cut, {.rows = RowAligns::read}) == "0-0 1-1");
  const WordGroups words{{0, 1, 1, 2}, {0, 0, 1, 2}};
  BOOST_TEST(links_text(links_of(kAttention, 3, &words, {.threshold = .3F})) == "0-0 1-0");
}

BOOST_AUTO_TEST_CASE(words_are_linked_where_positions_are_symbols) {
  const auto words = symbol_vocabulary({"a", "b", "c", "d", "e", "f", "g"});
  const auto between = [&](const std::vector<Token>& source) {
    return links_text(links_of(*words, source, *words, kTarget, kAttention, {}));
  };
  BOOST_TEST(between(kSource) == "0-0 0-1 1-1");
  BOOST_CHECK_THROW(between({4, 5}), SpecError);  // an encoder with other annotations
}

BOOST_AUTO_TEST_SUITE_END()
