#include "framework/data/synthetic.hpp"

#include <algorithm>
#include <set>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "shared.hpp"

using namespace softalign;

namespace {

Dataset load(const std::string& type, std::uint64_t seed = 1) {
  return make_plugin<TaskKind>(Choice{"task", type, nullptr, {}})->load(seed, {});
}

std::vector<Token> in_target_order(const Example& example) {
  std::vector<Token> tokens(example.target.size());
  for (const Link& link : example.links)
    tokens.at(usize(link.target)) = example.source[usize(link.source)];
  return tokens;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(synthetic_tasks)

BOOST_AUTO_TEST_CASE(all_have_the_same_shape) {
  for (const std::string type : {"copy", "reverse", "sort"}) {
    const Dataset data = load(type);
    BOOST_TEST(data.train.examples.size() == 20000u);
    BOOST_TEST(data.dev.examples.size() == 500u);
    BOOST_TEST(data.test.examples.size() == 1000u);
    BOOST_TEST(data.test.counts.read == 1000);
    BOOST_TEST(data.test.counts.kept == 1000);
    BOOST_TEST(data.test.name == "test");
    BOOST_TEST(data.has_links);
    BOOST_TEST(data.source == data.target);
    BOOST_TEST(data.source->size() == 32 + kSpecials);
    std::set<Index> lengths;
    for (const Example example : data.test.examples) {
      lengths.insert(std::ssize(example.source));
      BOOST_TEST(example.links.size() == example.target.size());
      BOOST_TEST(in_target_order(example) == vector_of(example.target));
      BOOST_TEST(data.source->encode(example.source_text) == vector_of(example.source));
      BOOST_TEST(data.target->encode(example.target_text) == vector_of(example.target));
    }
    BOOST_TEST(*lengths.begin() == 4);
    BOOST_TEST(*lengths.rbegin() == 60);
    BOOST_TEST(lengths.size() == 57u);
  }
}

BOOST_AUTO_TEST_CASE(each_writes_its_own_order) {
  const Dataset copied = load("copy"), reversed = load("reverse"), sorted = load("sort");
  std::vector<Token> source = vector_of(copied.dev.examples[0].source);
  // The drawn sentences do not depend on the task.
  BOOST_TEST(vector_of(reversed.dev.examples[0].source) == source);
  BOOST_TEST(vector_of(copied.dev.examples[0].target) == source);
  std::reverse(source.begin(), source.end());
  BOOST_TEST(vector_of(reversed.dev.examples[0].target) == source);
  std::sort(source.begin(), source.end());
  BOOST_TEST(vector_of(sorted.dev.examples[0].target) == source);
}

BOOST_AUTO_TEST_CASE(equal_symbols_keep_their_order) {
  const Dataset sorted = load("sort");
  for (const Example example : sorted.test.examples)
    for (std::size_t k = 1; k < example.target.size(); ++k)
      if (example.target[k] == example.target[k - 1])
        BOOST_TEST(example.links[k].source > example.links[k - 1].source);
}

BOOST_AUTO_TEST_CASE(an_example_depends_on_data_seed_split_and_number_only) {
  SyntheticOptions options;
  options.examples = {10, 10, 10};
  const Order order = [](std::span<const Token> s) { return std::vector<Index>(s.size()); };
  const Dataset few = make_synthetic(options, order);
  options.examples.train = 20;
  const Dataset more = make_synthetic(options, order);
  for (std::size_t i = 0; i < 10; ++i)
    BOOST_TEST(vector_of(few.train.examples[i].source) == vector_of(more.train.examples[i].source));
  BOOST_TEST(few.train.examples[0].source_text != few.dev.examples[0].source_text);
  options.data_seed = 2;
  BOOST_TEST(few.train.examples[0].source_text !=
             make_synthetic(options, order).train.examples[0].source_text);
  // The sentences do not depend on the seed of the run.
  BOOST_TEST(vector_of(load("copy", 1).test.examples[7].source) ==
             vector_of(load("copy", 2).test.examples[7].source));
}

BOOST_AUTO_TEST_CASE(lengths_are_checked_where_they_are_written) {
  for (const auto& [dev, place] : std::map<std::string, std::string>{{"[5, 4]", "4:10"},
                                                                     {"[4]", "4:10"},
                                                                     {"[4, 5, 6]", "4:10"},
                                                                     {"[]", "4:10"},
                                                                     {"[0, 4]", "4:11"},
                                                                     {"[4, 10001]", "4:14"}})
    BOOST_TEST(places_of(test::refusal([&] {
                 parse_spec<WithTask>("task:\n  type: reverse\n  length:\n    dev: " + dev + "\n",
                                      "x.yaml");
               })) == place,
               dev);
}

BOOST_AUTO_TEST_CASE(names_are_short_and_all_different) {
  const std::vector<std::string> names = symbol_names(54);
  BOOST_TEST(names[0] == "a");
  BOOST_TEST(names[26] == "A");
  BOOST_TEST(names[53] == "s53");
  BOOST_TEST(std::set<std::string>(names.begin(), names.end()).size() == 54u);
}

BOOST_AUTO_TEST_SUITE_END()
