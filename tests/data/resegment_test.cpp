#include "framework/data/batches.hpp"

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "shared.hpp"
#include "tests/data/pieces.hpp"

using namespace softalign;

namespace {

Dataset dataset(double dropout) {
  std::vector<std::string> lines;
  for (int k = 0; k < 300; ++k)
    lines.push_back(fmt::format("the reader{} is reading {} books", k % 17, k * 7 % 10));
  VocabularyOptions options;
  options.type = "sentencepiece";
  options.size = 45;
  options.model = "bpe";
  Dataset data;
  data.source = data.target = build_vocabulary(options, lines);
  data.subword_dropout = dropout;
  for (const std::string& line : lines) {
    const std::vector<Token> tokens = data.source->encode(line);
    data.train.examples.append({tokens, tokens, {}, line, line});
  }
  data.train.portions = {{100, 2}, {200, 1}};
  return data;
}

bool same(const Split& a, const Split& b) {
  for (std::size_t i = 0; i < a.examples.size(); ++i) {
    const Example x = a.examples[i], y = b.examples[i];
    if (!std::ranges::equal(x.source, y.source) || !std::ranges::equal(x.target, y.target))
      return false;
  }
  return a.examples.size() == b.examples.size();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(subword_dropout, *boost::unit_test::precondition(has_pieces))

BOOST_AUTO_TEST_CASE(sentences_are_cut_anew_in_each_epoch) {
  const Dataset data = dataset(0.1);
  Workers one(1), three(3);
  const Split first = resegmented(data, 1, 0, one);
  BOOST_TEST(same(first, resegmented(data, 1, 0, three)));
  BOOST_TEST(!same(first, resegmented(data, 1, 1, one)));
  BOOST_TEST(!same(first, resegmented(data, 2, 0, one)));
  BOOST_TEST(!same(first, data.train));
  BOOST_TEST(first.portions.size() == 2u);
  Index sides_differ = 0;
  for (std::size_t i = 0; i < data.train.examples.size(); ++i) {
    const Example example = first.examples[i];
    for (const auto side : {example.source, example.target}) {
      BOOST_TEST(data.source->join({side.begin(), side.end()}) ==
                 data.train.examples[i].source_text);
    }
    sides_differ += !std::ranges::equal(example.source, example.target);
  }
  BOOST_TEST(sides_differ > 10);
}

// Nearly every piece is a single character, even in the longest sentences.
BOOST_AUTO_TEST_CASE(sentences_become_as_long_as_their_pieces_make_them) {
  const Dataset data = dataset(0.99);
  Workers one(1);
  const Split again = resegmented(data, 1, 0, one);
  for (std::size_t i = 0; i < again.examples.size(); ++i)
    BOOST_TEST(again.examples[i].source.size() >
               0.9 * static_cast<double>(data.train.examples[i].source_text.size()));
}

BOOST_AUTO_TEST_CASE(what_no_epoch_draws_is_left_and_a_stop_is_heard) {
  Dataset data = dataset(0.3);
  data.train.portions = {{100, 0}, {200, 1}};
  Workers one(1);
  const Split again = resegmented(data, 1, 0, one);
  Index changed = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const bool same = std::ranges::equal(again.examples[i].source, data.train.examples[i].source);
    if (i < 100) BOOST_TEST(same);
    changed += !same;
  }
  BOOST_TEST(changed > 0);
  BOOST_CHECK_THROW(resegmented(data, 1, 0, one, [] { return true; }), Interrupted);
}

BOOST_AUTO_TEST_SUITE_END()
