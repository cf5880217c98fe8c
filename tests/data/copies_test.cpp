// Copies of source words, in sentences and in batches.
#include "framework/data/copies.hpp"

#include "framework/data/batches.hpp"
#include "shared.hpp"

using namespace softalign;
using Tokens = std::vector<Token>;
using Words = std::vector<std::string_view>;

namespace {

const WordVocabulary kSource("words", {"a", "b", "here"});
const auto kTarget =
    std::make_shared<WordVocabulary>("words", std::vector<std::string>{"b", "a", "there"});
const Copies kCopies(kSource, kTarget);
constexpr Token kV = kSpecials + 3;

Copies::OfSentence copies_of(const std::string& line) {
  return kCopies.of(kSource.encode(line), line);
}

Tokens extended(const std::string& target, const std::string& source) {
  Tokens tokens = kTarget->encode(target);
  kCopies.extend(tokens, target, copies_of(source).words);
  return tokens;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(copies)

BOOST_AUTO_TEST_CASE(a_word_that_the_target_lacks_is_its_first_position) {
  const std::string line = " a Zoe  b here Zoe Al there";  // the source vocabulary lacks "there"
  const Copies::OfSentence found = copies_of(line);
  BOOST_TEST(found.symbols == (Tokens{4, kV + 1, 3, kV + 3, kV + 1, kV + 5, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(found.words == (Words{"", "Zoe", "", "here", "", "Al", ""}),
             boost::test_tools::per_element());
  BOOST_TEST(copies_of("b a").symbols == (Tokens{3, 4}), boost::test_tools::per_element());
  BOOST_TEST(copies_of("").symbols.empty());
}

BOOST_AUTO_TEST_CASE(an_unknown_word_of_a_target_is_that_of_its_source) {
  BOOST_TEST(extended("Zoe b Bo Zoe a Al here", "a Al b Zoe here Zoe") ==
                 (Tokens{kV + 3, 3, kUnknown, kV + 3, 4, kV + 1, kV + 4}),
             boost::test_tools::per_element());
  BOOST_TEST(extended("Zoe", "zoe a") == Tokens{kUnknown}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_truncated_source_ends_where_its_symbols_do) {
  const std::string line = "Zoe a Al";
  const Tokens tokens = kSource.encode("Zoe a");
  BOOST_TEST(kCopies.of(tokens, line).words == (Words{"Zoe", ""}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(without_words_a_copy_is_a_symbol_or_unk) {
  const Tokens tokens = {3, kUnknown, 5};
  BOOST_TEST(kCopies.of(tokens, "").symbols == (Tokens{4, kUnknown, kUnknown}),
             boost::test_tools::per_element());
  const CharacterVocabulary source("characters", {"a", "c"});
  const auto target =
      std::make_shared<CharacterVocabulary>("characters", std::vector<std::string>{"c", "b"});
  const Copies of_characters(source, target);
  BOOST_TEST(
      of_characters.of(source.encode("acd"), "acd").symbols == (Tokens{kUnknown, 3, kUnknown}),
      boost::test_tools::per_element());
  Tokens unknown = target->encode("a");
  of_characters.extend(unknown, "a", Words{"a"});
  BOOST_TEST(unknown == Tokens{kUnknown}, boost::test_tools::per_element());
  const Copies by_index(6, 5);
  BOOST_TEST(by_index.of(tokens, "x y z").symbols == (Tokens{3, kUnknown, kUnknown}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_has_them_where_they_are_asked_for) {
  Split split;
  const auto add = [&](const std::string& source, const std::string& target) {
    const Tokens from = kSource.encode(source), to = kTarget->encode(target);
    split.examples.append(
        {.source = from, .target = to, .source_text = source, .target_text = target});
  };
  add("Al", "Al a");
  add("b Zoe", "Zoe Al");
  const Batch batch = make_batch(split, std::vector<Index>{0, 1}, {.copies = &kCopies});
  BOOST_TEST(batch.copies == (Tokens{3, kV + 1, kEnd, kV, kEnd, kEnd}),
             boost::test_tools::per_element());
  BOOST_TEST(batch.words == (Words{"", "Zoe", "", "Al", "", ""}), boost::test_tools::per_element());
  BOOST_TEST(batch.target_in == (Tokens{kBegin, kUnknown, kUnknown, kBegin, kUnknown, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(batch.target_out == (Tokens{kV + 1, kUnknown, kEnd, kV, 4, kEnd}),
             boost::test_tools::per_element());
  BOOST_TEST(vector_of(batch.target(1)) == (Tokens{kV, 4}), boost::test_tools::per_element());
  const Batch plain = make_batch(split, std::vector<Index>{0, 1});
  BOOST_TEST(plain.source_side().copies.empty());
  BOOST_TEST(plain.target_out == (Tokens{kUnknown, kUnknown, kEnd, kUnknown, 4, kEnd}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
