// Replacement of <unk>, on hand-made hypotheses.
#include <boost/test/unit_test.hpp>

#include "framework/eval/unknown_words.hpp"
#include "tests/message.hpp"
#include "tests/scratch.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

const WordVocabulary kSource("words", {"the", "tower", "of"}),
    kTarget("words", {"la", "tour", "de"});
const std::string kLine = "the tower of  Pisa";

// "la <unk> de <unk>" and </s>; four source words and </s>.
Hypothesis hypothesis() {
  Hypothesis one;
  one.tokens = {3, kUnknown, 5, kUnknown};
  one.finished = true;
  one.alignment = {.9f, .1f, 0, 0,   0,    //
                   .1f, .3f, 0, .2f, .4f,  // most at </s>, not a word
                   0,   0,   1, 0,   0,    //
                   0,   .3f, 0, .3f, .4f,  // the first of two
                   0,   0,   0, .1f, .9f};
  return one;
}

std::string text(const UnknownWordsOptions& options,
                 RowAligns rows = RowAligns::predicted,
                 Hypothesis one = hypothesis()) {
  UnknownWords(options, &kSource, kTarget, rows).replace(one, kLine);
  return text_of(one, kTarget);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unknown_words)

BOOST_AUTO_TEST_CASE(the_source_word_with_the_largest_weight_stands_for_it) {
  BOOST_TEST(text_of(hypothesis(), kTarget) == "la <unk> de <unk>");
  BOOST_TEST(text({"attention", {}}) == "la tower de tower");
  BOOST_TEST(text({"attention", {}}, RowAligns::read) == "la of de Pisa");
  BOOST_TEST(text({"forbid", {}}) == "la <unk> de <unk>");
  Hypothesis one = hypothesis();
  UnknownWords({"attention", {}}, &kSource, kTarget, RowAligns::predicted).replace(one, kLine);
  BOOST_REQUIRE(one.replaced.size() == 2);
  BOOST_TEST((one.replaced[1].symbol == 3 && one.replaced[1].source == 1 &&
              one.replaced[1].text == "tower"));
}

BOOST_AUTO_TEST_CASE(words_of_a_prefix_stay) {
  Hypothesis one = hypothesis();
  one.replaced = {{1, -1, "torre"}};
  BOOST_TEST(text({"attention", {}}, RowAligns::predicted, one) == "la torre de tower");
}

// The last row of an output that reached the length limit: the next row, which is needed, does not exist.
BOOST_AUTO_TEST_CASE(an_unfinished_hypothesis_has_no_next_row) {
  Hypothesis one = hypothesis();
  one.finished = false;
  one.alignment.resize(20);
  BOOST_TEST(text({"attention", {}}, RowAligns::read, one) == "la of de tower");
}

BOOST_AUTO_TEST_CASE(a_lexicon_translates_what_it_has) {
  const Scratch folder;
  const std::string file = (folder.path() / "lexicon").string();
  write_file(file, "tower\tla Tour\n\nPisa\tPise\ntower\tdonjon\n");
  BOOST_TEST(text({"lexicon", {file}}) == "la la Tour de la Tour");
  BOOST_TEST(text({"lexicon", {file}}, RowAligns::read) == "la of de Pise");
  for (const char* wrong : {"tower la Tour\n", "tower\t \n", "\tTour\n", "the tower\tla Tour\n"}) {
    write_file(file, std::string("of\tde\n") + wrong);
    BOOST_TEST(message_of<DataError>([&] {
                 text({"lexicon", {file}});
               }).starts_with(file + ":2: "));
  }
  BOOST_CHECK_THROW(text({"lexicon", {(folder.path() / "none").string()}}), DataError);
}

BOOST_AUTO_TEST_CASE(sources_may_be_pieces_and_targets_may_not) {
  const CharacterVocabulary characters("characters", {"a", "b", "\xE2\x96\x81"});
  Hypothesis one;
  one.tokens = {kUnknown};
  one.alignment = {
      .1f, .2f, 0, .25f, .05f, .4f};  // "ab a b": a word's weight is the sum over its characters
  UnknownWords({"attention", {}}, &characters, kTarget, RowAligns::predicted).replace(one, "ab a");
  BOOST_TEST(text_of(one, kTarget) == "ab");
  for (const Vocabulary* source :
       {static_cast<const Vocabulary*>(&kSource), static_cast<const Vocabulary*>(nullptr)}) {
    const Vocabulary& target = source ? static_cast<const Vocabulary&>(characters) : kTarget;
    BOOST_TEST(refusal([&] {
                 UnknownWords({"attention", {}}, source, target, RowAligns::predicted);
               }).starts_with("evaluate.unknown_words.by: "));
    BOOST_CHECK_NO_THROW(UnknownWords({"forbid", {}}, source, target, RowAligns::predicted));
  }
}

BOOST_AUTO_TEST_SUITE_END()
