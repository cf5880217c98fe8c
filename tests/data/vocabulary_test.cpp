#include "framework/data/vocabulary.hpp"

#include <algorithm>
#include <set>

#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/read_vocabularies.hpp"
#include "framework/data/text.hpp"
#include "shared.hpp"
#include "tests/data/pieces.hpp"

using namespace softalign;
using Strings = std::vector<std::string>;

namespace {

VocabularyOptions options(const std::string& type, Index size, const std::string& model) {
  VocabularyOptions result;
  result.type = type;
  result.size = size;
  result.model = model;
  return result;
}

std::shared_ptr<const Vocabulary> build(const std::string& type,
                                        const Strings& lines,
                                        Index size = 100,
                                        const std::string& model = "unigram") {
  return build_vocabulary(options(type, size, model), lines);
}

Strings symbols(const Vocabulary& vocabulary) {
  Strings names;
  for (Token id = 0; id < vocabulary.size(); ++id) names.push_back(vocabulary.symbol(id));
  return names;
}

// Sentences with enough different words for learning pieces.
Strings sentences() {
  const Strings stems = {"walk", "talk", "jump", "read", "sing", "paint", "laugh", "count"};
  const Strings endings = {"", "s", "ed", "ing", "er"};
  Strings lines;
  for (const std::string& a : stems)
    for (const std::string& b : stems)
      for (const std::string& ending : endings)
        lines.push_back("the " + a + "er " + b + ending + " a señor " + a + "ing .");
  return lines;
}

void same_after_loading(const Vocabulary& vocabulary, const std::string& line) {
  const std::string text = vocabulary.serialize();
  const auto again = load_vocabulary(text);
  BOOST_TEST(again->type() == vocabulary.type());
  BOOST_TEST(symbols(*again) == symbols(vocabulary));
  BOOST_TEST(again->encode(line) == vocabulary.encode(line));
  BOOST_TEST(again->serialize() == text);
  BOOST_TEST(find_invalid_utf8(text) == std::string::npos);
  BOOST_TEST(text.find('\0') == std::string::npos);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vocabularies)

BOOST_AUTO_TEST_CASE(words_by_falling_count_then_bytewise) {
  const auto words = build("words", {"b a é Z b", "c  a\tb"}, 7);
  BOOST_TEST((symbols(*words) == Strings{"<unk>", "<s>", "</s>", "b", "a", "Z", "c"}));
  BOOST_TEST((words->encode(" a  é b ") == std::vector<Token>{4, kUnknown, 3}));
  BOOST_TEST((words->split("a é") == Strings{"a", "é"}));
  BOOST_TEST(words->join({kBegin, 4, kUnknown, 3, kEnd}) == "a <unk> b");
  BOOST_TEST((words->word_of("x y z") == std::vector<Index>{0, 1, 2}));
  same_after_loading(*words, "a b c d");
}

BOOST_AUTO_TEST_CASE(text_never_yields_a_sentence_mark) {
  for (const std::string type : {"words", "characters", "sentencepiece"}) {
    if (type == "sentencepiece" && sentencepiece_version().empty()) continue;
    Strings lines = sentences();
    lines.push_back("</s> <s> <unk> </s>");
    const auto vocabulary = build(type, lines);
    for (const Token id : vocabulary->encode("</s> the <s>")) BOOST_TEST((id == 0 || id > kEnd));
    for (const std::string_view name : kSpecialNames) BOOST_TEST(vocabulary->id(name) == kUnknown);
  }
}

BOOST_AUTO_TEST_CASE(characters_restore_the_spaces) {
  const auto characters = build("characters", {"señor a", "a a"});
  BOOST_TEST(characters->symbol(3) == "a");
  BOOST_TEST(characters->symbol(4) == std::string(kSpaceMark));
  BOOST_TEST((characters->split("ñ  a ") == Strings{"ñ", std::string(kSpaceMark), "a"}));
  const std::string line = " señor   a a a señor a a a señor";
  BOOST_TEST(characters->join(characters->encode(line)) == single_spaced(line));
  BOOST_TEST(characters->word_of(line).back() == 8);
  BOOST_TEST((characters->word_of("ab ñ c") == std::vector<Index>{0, 0, 0, 1, 1, 2}));
  BOOST_TEST(characters->has_pieces());
  const std::vector<Token> marks = {4, 3, 3, 4, 4, 3, 4};  // a model may write such a sequence
  BOOST_TEST((characters->word_of_pieces(marks) == std::vector<Index>{0, 0, 0, 0, 0, 1, 1}));
  BOOST_TEST(characters->join(marks) == "aa a");
  same_after_loading(*characters, "señor x");
}

BOOST_AUTO_TEST_CASE(pieces_restore_the_line_and_are_the_same_each_time,
                     *boost::unit_test::precondition(has_pieces)) {
  for (const std::string model : {"unigram", "bpe"}) {
    const auto pieces = build("sentencepiece", sentences(), 60, model);
    const std::string line = "the singer  painted a señor reading . ";
    const auto ids = pieces->encode(line);
    BOOST_TEST(pieces->size() <= 60);
    BOOST_TEST(ids.size() > 7u);
    BOOST_TEST(std::count(ids.begin(), ids.end(), kUnknown) == 0);
    BOOST_TEST(pieces->join(ids) == "the singer painted a señor reading .");
    BOOST_TEST(pieces->serialize() == build("sentencepiece", sentences(), 60, model)->serialize());
    same_after_loading(*pieces, line);
  }
}

// The pieces of each word, concatenated, give the word.
BOOST_AUTO_TEST_CASE(pieces_know_their_word, *boost::unit_test::precondition(has_pieces)) {
  const auto pieces = build("sentencepiece", sentences(), 60);
  for (const std::string line : {"the singer painted", "ψψ the ψ qqq sing"}) {
    const Strings split = pieces->split(line);
    const std::vector<Index> word_of = pieces->word_of(line);
    const auto words = split_words(line);
    BOOST_REQUIRE(split.size() == word_of.size());
    Strings whole(words.size());
    for (std::size_t k = 0; k < split.size(); ++k) whole.at(usize(word_of[k])) += split[k];
    for (std::size_t k = 0; k < words.size(); ++k)
      BOOST_TEST(unmark_spaces(whole[k]) == unmark_spaces(words[k]));
  }
}

// Groups the pieces of any sequence into words by its space marks, including sequences that a model made.
BOOST_AUTO_TEST_CASE(pieces_are_joined_to_words, *boost::unit_test::precondition(has_pieces)) {
  for (const std::string model : {"unigram", "bpe"}) {
    const auto pieces = build("sentencepiece", sentences(), 60, model);
    BOOST_TEST(pieces->has_pieces());
    for (const std::string& line : sentences())
      BOOST_TEST(pieces->word_of_pieces(pieces->encode(line)) == pieces->word_of(line));
    BOOST_TEST(pieces->word_of_pieces({}).empty());
    Token inner = kSpecials;
    while (pieces->symbol(inner).starts_with(kSpaceMark)) ++inner;
    const std::vector<Token> inside = {inner, inner, pieces->encode("the").front(), inner};
    BOOST_TEST((pieces->word_of_pieces(inside) == std::vector<Index>{0, 0, 1, 1}));
    const Token mark = pieces->encode("ψ").front(), the = pieces->encode("the").front();
    BOOST_REQUIRE(pieces->symbol(mark) == kSpaceMark);
    const std::vector<Token> marks = {mark, mark, inner, mark, the, mark};  // possible model output
    BOOST_TEST((pieces->word_of_pieces(marks) == std::vector<Index>{0, 0, 0, 1, 1, 1}));
    BOOST_TEST(split_words(pieces->join(marks)).size() == 2u);
  }
  const auto words = build("words", sentences());
  BOOST_TEST(!words->has_pieces());
  BOOST_TEST((words->word_of_pieces(words->encode("the singer")) == std::vector<Index>{0, 1}));
}

BOOST_AUTO_TEST_CASE(merges_are_left_out, *boost::unit_test::precondition(has_pieces)) {
  const auto pieces = build("sentencepiece", sentences(), 70, "bpe");
  const RandomStream stream(1, "test");
  std::size_t none = 0, some = 0, all = 0;
  std::set<std::vector<Token>> different;
  Strings lines = sentences();
  lines.push_back("the ψψ singψer ψ paints \xE2\x96\x81 qqq");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<Token> whole = pieces->encode(lines[i]);
    BOOST_TEST(pieces->encode_with_dropout(lines[i], 0, stream.within(0, i)) == whole);
    const auto cut = pieces->encode_with_dropout(lines[i], 0.1, stream.within(0, i));
    BOOST_TEST(cut == pieces->encode_with_dropout(lines[i], 0.1, stream.within(0, i)));
    BOOST_TEST(pieces->join(cut) == pieces->join(whole));
    none += whole.size();
    some += cut.size();
    all += pieces->encode_with_dropout(lines[i], 0.999, stream.within(0, i)).size();
    different.insert(pieces->encode_with_dropout(lines[0], 0.1, stream.within(1, i)));
  }
  BOOST_TEST(some > none + none / 20);
  BOOST_TEST(all > 2 * none);  // nearly every character is a piece
  BOOST_TEST(different.size() > 10u);
  std::string long_word;  // takes minutes if the cost is quadratic
  for (int i = 0; i < 2000; ++i) long_word += "singing";
  const std::vector<Token> whole = pieces->encode(long_word);
  BOOST_TEST(pieces->encode_with_dropout(long_word, 0, stream) == whole);
  BOOST_TEST(pieces->encode_with_dropout(long_word, 0.5, stream) != whole);
  BOOST_CHECK_THROW(build("words", lines)->encode_with_dropout("a", 0.1, stream), BugError);
}

// The library's mark for unknown pieces is itself unknown, and pieces are learnt from the rest of its line.
BOOST_AUTO_TEST_CASE(lines_with_the_mark_of_unknown_pieces_are_read,
                     *boost::unit_test::precondition(has_pieces)) {
  Strings lines = sentences();
  for (std::string& line : lines) line += " bar \xE2\x96\x85";
  const auto pieces = build("sentencepiece", lines, 60);
  const auto unknown = [&](const std::string& line) {
    const auto ids = pieces->encode(line);
    return std::count(ids.begin(), ids.end(), kUnknown);
  };
  BOOST_TEST(unknown("the singer bar") == 0);
  BOOST_TEST(unknown(lines.front()) == 1);
}

// Compares the number of pieces with that of the published algorithm, in which each pair draws in each round.
BOOST_AUTO_TEST_CASE(merges_are_left_out_as_published,
                     *boost::unit_test::precondition(has_pieces)) {
  const auto pieces = build("sentencepiece", sentences(), 70, "bpe");
  const auto as_printed = [&](const std::string& word, double dropout, const RandomStream& stream) {
    std::vector<std::string> parts;
    for (const std::string_view part : code_points(word)) parts.emplace_back(part);
    for (std::uint64_t draws = 0;;) {
      std::size_t best = 0;
      Token merge = kUnknown;  // pieces learnt earlier have lower indices
      for (std::size_t k = 1; k < parts.size(); ++k) {
        const Token whole = pieces->id(parts[k - 1] + parts[k]);
        if (whole == kUnknown || static_cast<double>(stream.uniform(draws++)) < dropout) continue;
        if (merge != kUnknown && whole >= merge) continue;
        best = k;
        merge = whole;
      }
      if (merge == kUnknown) return parts.size();
      parts[best - 1] += parts[best];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best));
    }
  };
  for (const double dropout : {0.1, 0.5, 0.9}) {
    const RandomStream printed(1, "printed"), drawn(1, "drawn");
    std::size_t expected = 0, found = 0;
    for (const std::string word : {"walking", "laughed", "painter", "counts"})
      for (std::uint64_t i = 0; i < 4000; ++i) {
        expected += as_printed(std::string(kSpaceMark) + word, dropout, printed.within(0, i));
        found += pieces->encode_with_dropout(word, dropout, drawn.within(0, i)).size();
      }
    BOOST_TEST(static_cast<double>(found) == static_cast<double>(expected),
               boost::test_tools::tolerance(0.01));
  }
}

BOOST_AUTO_TEST_CASE(pieces_refuse_what_cannot_be, *boost::unit_test::precondition(has_pieces)) {
  BOOST_CHECK_THROW(build("sentencepiece", sentences(), 10), DataError);
}

BOOST_AUTO_TEST_CASE(a_model_of_pieces_that_the_library_throws_at_is_refused,
                     *boost::unit_test::precondition(has_pieces)) {
  const std::string model =  // with an empty piece
      "Cg4KBTx0bms+"
      "FQAAAAAYAgoMCgM8cz4VAAAAABgDCg0KBDwvcz4VAAAAABgDCgkKAmFiFQAAAIAKDAoF4pAByWIVAACAv"
      "woLCgEAkAGAgECIAgDAAgDIAgHQAgLYAv///////////wEaDAoIaWRlbnR0dHkSAA==";
  BOOST_CHECK_THROW(load_vocabulary("softalign-vocabulary 1 sentencepiece\n" + model + "\n"),
                    DataError);
}

BOOST_AUTO_TEST_CASE(named_symbols) {
  const auto named = symbol_vocabulary({"z", "a"});
  BOOST_TEST(named->type() == "symbols");
  BOOST_TEST((named->encode("a z q") == std::vector<Token>{4, 3, kUnknown}));
  BOOST_CHECK_THROW(symbol_vocabulary({"a", "a"}), DataError);
  BOOST_CHECK_THROW(symbol_vocabulary({"<s>"}), DataError);
  same_after_loading(*named, "z a");
}

BOOST_AUTO_TEST_CASE(a_list_of_words_is_refused_by_line) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& text) {
    return message_of<DataError>([&] { read_vocabularies(scratch.write("list.words", text)); });
  };
  BOOST_TEST(contains(refusal("one\ntwo\none\n"), "list.words:3: 'one' is in line 1, too"));
  BOOST_TEST(contains(refusal("one\n\ntwo\n"), "list.words:2: the line is empty"));
  BOOST_TEST(contains(refusal("one\ntwo three\n"), "list.words:2: 'two three' is not one word"));
}

BOOST_AUTO_TEST_CASE(rising_numbers_are_symbols) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"1"}, {"1", "1.0"}, {"2", "1"}, {"1", "x"}})
    BOOST_CHECK_THROW(NumberVocabulary{wrong}, DataError);
}

BOOST_AUTO_TEST_CASE(symbols_that_are_numbers_have_values) {
  const TargetFormat numbers(*symbol_vocabulary({"3", "-0.5", "1e3"}));
  BOOST_TEST((numbers.values == std::vector<double>{0, 0, 0, 3, -0.5, 1000}));
  BOOST_TEST(numbers.symbols == kSpecials + 3);
  for (const std::string other : {"x", "1x", "+1", "nan", "inf", "0x1"}) {
    const TargetFormat mixed(*symbol_vocabulary({"3", other, "y"}));
    BOOST_TEST(mixed.values.empty());
    BOOST_TEST(mixed.not_a_number == other);
  }
  BOOST_TEST((TargetFormat(Index{5}).values == std::vector<double>{0, 0, 0, 0, 1}));
}

BOOST_AUTO_TEST_CASE(foreign_text_is_not_loaded) {
  for (const std::string text : {"",
                                 "words\n",
                                 "softalign-vocabulary 1 words",
                                 "softalign-vocabulary 1 letters\na\n",
                                 "softalign-vocabulary 1 words\na\na\n",
                                 "softalign-vocabulary 1 sentencepiece\nAAAA\n",
                                 "softalign-vocabulary 1 sentencepiece\n=\n",
                                 "softalign-vocabulary 1 sentencepiece\n"})
    BOOST_CHECK_THROW(load_vocabulary(text), DataError);
}

BOOST_AUTO_TEST_CASE(code_points_refuse_other_encodings) {
  BOOST_TEST(code_points("añ▁").size() == 3u);
  BOOST_CHECK_THROW(code_points("se\xF1or"), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
