#include "framework/data/batches.hpp"

#include "shared.hpp"

using namespace softalign;
using Tokens = std::vector<Token>;
using Indices = std::vector<Index>;

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE(rows_by_falling_source_length_with_marks_and_filler) {
  const Split split = split_of({{1, 2}, {2, 1}, {1, 1}});
  const Batch batch = make_batch(split, Indices{2, 0, 1});
  BOOST_TEST(batch.rows == 3);
  BOOST_TEST(batch.source_steps == 3);
  BOOST_TEST(batch.target_steps == 3);
  BOOST_TEST((batch.example == Indices{1, 0, 2}));
  BOOST_TEST((batch.source_lengths == Indices{3, 2, 2}));
  BOOST_TEST((batch.target_lengths == Indices{2, 3, 2}));
  BOOST_TEST((batch.source == Tokens{103, 104, 2, 3, 2, 2, 203, 2, 2}));
  BOOST_TEST((batch.target_in == Tokens{1, 153, 2, 1, 53, 54, 1, 253, 2}));
  BOOST_TEST((batch.target_out == Tokens{153, 2, 2, 53, 54, 2, 253, 2, 2}));
}

BOOST_AUTO_TEST_CASE(the_order_of_the_request_does_not_matter) {
  const Split split = split_of({{5, 2}, {3, 9}, {5, 7}, {4, 4}});
  const Batch a = make_batch(split, Indices{0, 1, 2, 3});
  const Batch b = make_batch(split, Indices{3, 2, 1, 0});
  BOOST_TEST((a.example == Indices{0, 2, 3, 1}));
  BOOST_TEST(a.example == b.example);
  BOOST_TEST(a.source == b.source);
  BOOST_TEST(a.target_in == b.target_in);
}

BOOST_AUTO_TEST_CASE(an_empty_shard_is_an_empty_batch) {
  const Batch batch = make_batch(split_of({{1, 1}}), {});
  BOOST_TEST(batch.rows == 0);
  BOOST_TEST(batch.source_steps == 0);
  BOOST_TEST(batch.source.empty());
}

BOOST_AUTO_TEST_SUITE_END()
