#include "framework/data/text_facts.hpp"

#include "framework/data/build_vocabulary.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

TextFacts facts_of(const std::vector<std::string>& lines, const std::string& type = "words") {
  VocabularyOptions options;
  options.type = type;
  const auto vocabulary = build_vocabulary(options, {"the house is red", "the house ."});
  TextSurvey survey(*vocabulary);
  Index number = 0;
  for (const std::string& line : lines) survey.add(++number, line, vocabulary->encode(line));
  return survey.facts("test.source");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_facts)

BOOST_AUTO_TEST_CASE(unknown_symbols_are_counted_and_the_first_are_kept) {
  const TextFacts facts = facts_of({"the dog is a dog", "a The . house. b c d e"});
  BOOST_TEST(facts.symbols == 13);
  BOOST_TEST(facts.unknown == 10);
  BOOST_TEST(facts.unknown_types == 8);
  BOOST_TEST(facts.types == 11);
  BOOST_TEST(facts.in_lower_case == 1);
  BOOST_TEST(facts.with_points == 1);
  BOOST_TEST(facts.examples == (std::vector<std::string>{"dog", "a", "The", "house.", "b"}));
  BOOST_TEST(facts_of({"the hat"}, "characters").unknown == 1);  // the letter a is unknown
  BOOST_TEST(notes_of(std::vector{facts_of({"the red house"})}, {}).empty());
}

BOOST_AUTO_TEST_CASE(both_ways_of_writing_a_character) {
  for (const auto& [composed, decomposed] : {std::pair("\u00e9", "e\u0301"),
                                             {"\u1ebf", "\u00ea\u0301"},
                                             {"\u304c", "\u304b\u3099"},
                                             {"\ud55c", "\u1112\u1161\u11ab"}}) {
    BOOST_TEST(forms_of(composed).composed);
    BOOST_TEST(!forms_of(composed).decomposed);
    BOOST_TEST(forms_of(std::string("x ") + decomposed).decomposed);
  }
  for (const char* one_way : {"plain", "m\u0303", "\u00df \u00e6 \u4e2d", "\u0301", "e \u0301"}) {
    BOOST_TEST(!forms_of(one_way).composed);
    BOOST_TEST(!forms_of(one_way).decomposed);
  }
  BOOST_TEST(forms_of("a\ufeff").byte_order_mark);
}

BOOST_AUTO_TEST_CASE(notes_name_mixtures_marks_and_other_forms_than_in_training) {
  const TextFacts nfc = facts_of({"the \u00e9"}), nfd = facts_of({"the", "e\u0301"});
  const auto notes = [](TextFacts text, TextFacts trained_on) {
    text.unknown = 0;
    trained_on.option = "train.source";
    std::string all;
    for (const std::string& note : notes_of(std::vector{text}, std::vector{trained_on}))
      all += note + "\n";
    return all;
  };
  BOOST_TEST(notes(nfc, nfc) == "");
  BOOST_TEST(notes(nfd, nfd) == "");
  BOOST_TEST(contains(notes(nfc, nfd), "(NFC, NFD)"));
  BOOST_TEST(contains(notes(nfd, nfc), "(NFD, NFC)"));
  const TextFacts both = facts_of({"\u00e9", "\u00e9 e\u0301", "e\u0301"});
  BOOST_TEST(contains(notes(both, nfc), "the first is 2"));
  BOOST_TEST(contains(notes(facts_of({"a", "b \ufeff"}), nfc), "the first is 2"));
}

BOOST_AUTO_TEST_SUITE_END()
