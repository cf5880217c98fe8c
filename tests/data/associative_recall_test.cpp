// Task associative_recall against its definition, recomputed from the words that it writes.
#include <map>
#include <set>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/task.hpp"
#include "framework/data/text.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

Dataset load(std::map<std::string, std::string> values) {
  return task_with("associative_recall", std::move(values))->load(1, {});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(associative_recall)

BOOST_AUTO_TEST_CASE(the_values_of_the_keys_asked_for_are_the_target) {
  const Dataset data = load({{"queries", "2"}, {"examples.train", "200"}});
  BOOST_TEST(data.has_links);
  BOOST_TEST(data.source->size() == 3 + 26 + 10 + 1);
  BOOST_TEST(data.target->size() == 3 + 10);
  std::set<std::size_t> counts;
  for (const Example example : data.test.examples) {
    const auto source = split_words(example.source_text);
    const auto target = split_words(example.target_text);
    const auto mark = std::find(source.begin(), source.end(), "?");
    const auto pairs = usize(mark - source.begin()) / 2;
    counts.insert(pairs);
    std::map<std::string_view, std::size_t> place;
    for (std::size_t k = 0; k < pairs; ++k) place[source[2 * k]] = 2 * k + 1;
    BOOST_TEST(place.size() == pairs);  // keys differ
    BOOST_REQUIRE(source.size() == 2 * pairs + 3);
    BOOST_REQUIRE(target.size() == 2u);
    for (std::size_t q = 0; q < 2; ++q) {
      const std::size_t at = place.at(source[2 * pairs + 1 + q]);
      BOOST_TEST(target[q] == source[at]);
      BOOST_TEST(example.links[q].source == static_cast<Index>(at));
      BOOST_TEST(example.links[q].target == static_cast<Index>(q));
    }
    BOOST_TEST(data.source->encode(example.source_text) == vector_of(example.source));
    BOOST_TEST(data.target->encode(example.target_text) == vector_of(example.target));
  }
  BOOST_TEST(*counts.begin() == 2u);
  BOOST_TEST(*counts.rbegin() == 16u);
}

// The chain of values from a queried key ends at the target, and the link points to the last value.
BOOST_AUTO_TEST_CASE(with_hops_the_value_of_a_key_is_a_key) {
  const Dataset data = load({{"hops", "3"}, {"pairs.test", "[2, 5]"}, {"queries", "2"}});
  std::set<std::string> orders;
  for (const Example example : data.test.examples) {
    const auto source = split_words(example.source_text);
    const auto target = split_words(example.target_text);
    const auto pairs = usize(std::find(source.begin(), source.end(), "?") - source.begin()) / 2;
    BOOST_TEST(pairs % 3 == 0u);
    std::map<std::string_view, std::size_t> place;
    for (std::size_t k = 0; k < pairs; ++k) place[source[2 * k]] = 2 * k + 1;
    BOOST_TEST(place.size() == pairs);  // keys differ
    for (std::size_t q = 0; q < 2; ++q) {
      std::size_t at = place.at(source[2 * pairs + 1 + q]);
      for (int hop = 1; hop < 3; ++hop) at = place.at(source[at]);
      BOOST_TEST(!place.contains(source[at]));
      BOOST_TEST(target[q] == source[at]);
      BOOST_TEST(example.links[q].source == static_cast<Index>(at));
    }
    const bool next =
        place.at(source[2 * pairs + 1]) + 1 < 2 * pairs &&
        source[place.at(source[2 * pairs + 1])] == source[place.at(source[2 * pairs + 1]) + 1];
    orders.insert(next ? "adjacent" : "apart");
  }
  BOOST_TEST(orders.size() == 2u);  // pairs are shuffled
}

BOOST_AUTO_TEST_CASE(one_hop_is_what_it_was) {
  const Dataset without = load({}), one = load({{"hops", "1"}});
  for (std::size_t i = 0; i < std::size(without.test.examples); ++i)
    BOOST_TEST(without.test.examples[i].source_text == one.test.examples[i].source_text);
}

BOOST_AUTO_TEST_CASE(asking_for_more_leaves_the_first_as_they_were) {
  const Dataset few = load({{"examples.train", "10"}}), more = load({{"examples.train", "20"}});
  for (std::size_t i = 0; i < 10; ++i)
    BOOST_TEST(few.train.examples[i].source_text == more.train.examples[i].source_text);
  BOOST_TEST(few.train.examples[0].source_text != few.dev.examples[0].source_text);
  BOOST_TEST(load({{"data_seed", "2"}}).train.examples[0].source_text !=
             few.train.examples[0].source_text);
}

BOOST_AUTO_TEST_CASE(too_few_keys_are_refused_where_they_are_written) {
  BOOST_TEST(message_of<SpecError>([] {
               parse_spec<WithTask>("task:\n  type: associative_recall\n  keys: 12\n", "x.yaml");
             }) ==
             "x.yaml:3:9: task.keys: 12 keys are too few for 16 pairs; the keys of a "
             "sentence differ");
  BOOST_TEST(message_of<SpecError>([] {
               parse_spec<WithTask>("task:\n  type: associative_recall\n  hops: 2\n", "x.yaml");
             }).find("26 keys are too few for 32 pairs") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
