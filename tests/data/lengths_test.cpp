#include "framework/data/dataset.hpp"

#include "shared.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(lengths)

BOOST_AUTO_TEST_CASE(labels_and_buckets_agree) {
  const LengthBuckets buckets({10, 20, 21});
  BOOST_TEST(buckets.count() == 4);
  std::vector<std::string> labels;
  for (const Index length : {1, 10, 11, 20, 21, 22, 1000})
    labels.push_back(buckets.label(buckets.bucket_of(length)));
  const std::vector<std::string> expected = {"1-10", "1-10", "11-20", "11-20", "21", "22+", "22+"};
  BOOST_TEST(labels == expected);
  BOOST_TEST(LengthBuckets({}).label(0) == "1+");
}

BOOST_AUTO_TEST_CASE(edges_must_rise) {
  for (const std::vector<Index>& edges : {std::vector<Index>{10, 10}, {20, 10}, {0, 10}, {-1}})
    BOOST_CHECK_THROW(LengthBuckets{edges}, SpecError);
}

BOOST_AUTO_TEST_SUITE_END()
