#include "framework/eval/alignments.hpp"

#include <boost/test/unit_test.hpp>
#include "framework/data/build_vocabulary.hpp"
#include "framework/eval/attention_diagnostics.hpp"

using namespace softalign;

namespace {

// Pieces like those of sentencepiece, from a table.
class Pieces final : public Vocabulary {
 public:
  std::string type() const override { return "pieces"; }
  Index size() const override { return std::ssize(names_); }
  const std::string& symbol(Token id) const override { return names_.at(usize(id)); }
  Token id(std::string_view) const override { return kUnknown; }
  std::vector<std::string> split(std::string_view) const override { return {}; }
  std::string join(const std::vector<Token>& ids) const override {
    std::string text;
    for (const Token id : ids) text += symbol(id)[0] == '_' ? symbol(id).substr(1) : symbol(id);
    return text;
  }
  std::string serialize() const override { return ""; }
  bool has_pieces() const override { return true; }

 protected:
  std::vector<Index> words_of(const std::vector<std::string>& symbols) const override {
    std::vector<Index> words;
    for (const std::string& symbol : symbols)
      words.push_back(words.empty() ? 0 : words.back() + (symbol[0] == '_' ? 1 : 0));
    return words;
  }

 private:
  std::vector<std::string> names_ = {"<unk>", "<s>", "</s>", "_sing", "er", "_the", "_re", "ad"};
};

const std::vector<Token> kSource = {5, 3, 4};  // the singer
const std::vector<Token> kTarget = {6, 7, 5};  // read the
const AlignmentMatrix kMatrix{
    4, 4, {0.125F, 0.25F, 0.5F, 0.125F, 0.5F, 0.25F, 0, 0.25F, 0, 1, 0, 0, 0, 0, 0, 1}};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_of_pieces)

BOOST_AUTO_TEST_CASE(weights_are_summed_over_source_pieces_and_averaged_over_target_pieces) {
  const Pieces pieces;
  const auto words = word_groups(pieces, kSource, pieces, kTarget, kMatrix);
  BOOST_REQUIRE(words.has_value());
  BOOST_TEST((words->source == std::vector<Index>{0, 1, 1, 2}));
  BOOST_TEST((words->target == std::vector<Index>{0, 0, 1, 2}));
  const AlignmentMatrix joined = join(kMatrix, *words);
  BOOST_TEST(joined.steps == 3);
  BOOST_TEST(joined.positions == 3);
  const std::vector<float> expected = {0.3125F, 0.5F, 0.1875F, 0, 1, 0, 0, 0, 1};
  BOOST_TEST(joined.weights == expected, boost::test_tools::per_element());
  BOOST_TEST((word_names(pieces, kSource, words->source) ==
              std::vector<std::string>{"the", "singer", "</s>"}));
  BOOST_TEST((word_names(pieces, kTarget, words->target) ==
              std::vector<std::string>{"read", "the", "</s>"}));
}

// An even row points at no word, although a word of several pieces has more weight.
BOOST_AUTO_TEST_CASE(even_rows_point_nowhere_whatever_the_words_are_made_of) {
  const WordGroups words{{0, 1, 1, 2}, {0, 0, 1, 2}};
  const AlignmentMatrix even{4, 4, std::vector<float>(16, 0.25F)};
  for (const auto& pointed : words_point_at(even, words)) BOOST_TEST(pointed.empty());
  AlignmentMatrix one = even;
  one.weights[5] = 0.5F;
  one.weights[4] = 0;
  BOOST_TEST((words_point_at(one, words)[0] == std::vector<Index>{1}));
  BOOST_TEST(words_point_at(one, words)[1].empty());
}

BOOST_AUTO_TEST_CASE(words_are_linked_where_a_piece_is) {
  const WordGroups words{{0, 1, 1, 2}, {0, 0, 1, 2}};
  const std::vector<Link> links = {{1, 0, false}, {2, 1, true}, {0, 2, false}};
  const std::vector<Link> joined = join(links, words);
  BOOST_REQUIRE(joined.size() == 2u);
  BOOST_TEST((joined[0].source == 0 && joined[0].target == 1 && !joined[0].sure));
  BOOST_TEST((joined[1].source == 1 && joined[1].target == 0 && joined[1].sure));
}

BOOST_AUTO_TEST_CASE(what_is_made_of_words_or_of_other_annotations_is_left) {
  const Pieces pieces;
  const auto words = symbol_vocabulary({"a", "b", "c", "d", "e"});
  BOOST_TEST(!word_groups(*words, kSource, *words, kTarget, kMatrix));
  BOOST_TEST(word_groups(*words, kSource, pieces, kTarget, kMatrix).has_value());
  BOOST_TEST(!word_groups(pieces, std::vector<Token>{5, 3}, pieces, kTarget, kMatrix));
  // A hypothesis that was cut at the length limit has no </s>.
  const AlignmentMatrix cut{3, 4, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
  BOOST_TEST(
      (word_groups(pieces, kSource, pieces, kTarget, cut)->target == std::vector<Index>{0, 0, 1}));
}

BOOST_AUTO_TEST_SUITE_END()
