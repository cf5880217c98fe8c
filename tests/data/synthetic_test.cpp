#include "framework/data/synthetic.hpp"

#include <algorithm>
#include <set>

#include "scratch.hpp"

using namespace softalign;

namespace {

Dataset load(const std::string& type, std::uint64_t seed = 1) {
  return make_plugin<TaskKind>(Choice{"task", type, nullptr, {}})->load(seed, {});
}

std::vector<Token> in_target_order(const Example& example) {
  std::vector<Token> tokens(example.target.size());
  for (const Link& link : example.links)
    tokens.at(static_cast<std::size_t>(link.target)) =
        example.source.at(static_cast<std::size_t>(link.source));
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
    for (const Example& example : data.test.examples) {
      lengths.insert(std::ssize(example.source));
      BOOST_TEST(example.links.size() == example.target.size());
      BOOST_TEST(in_target_order(example) == example.target);
      BOOST_TEST(data.source->encode(example.source_text) == example.source);
      BOOST_TEST(data.target->encode(example.target_text) == example.target);
    }
    BOOST_TEST(*lengths.begin() == 4);
    BOOST_TEST(*lengths.rbegin() == 60);
    BOOST_TEST(lengths.size() == 57u);
  }
}

BOOST_AUTO_TEST_CASE(each_writes_its_own_order) {
  const Example copied = load("copy").dev.examples[0];
  const Example reversed = load("reverse").dev.examples[0];
  const Example sorted = load("sort").dev.examples[0];
  std::vector<Token> source = copied.source;
  BOOST_TEST(reversed.source == source);  // the draw does not depend on the task
  BOOST_TEST(copied.target == source);
  std::reverse(source.begin(), source.end());
  BOOST_TEST(reversed.target == source);
  std::sort(source.begin(), source.end());
  BOOST_TEST(sorted.target == source);
}

BOOST_AUTO_TEST_CASE(equal_symbols_keep_their_order) {
  for (const Example& example : load("sort").test.examples)
    for (std::size_t k = 1; k < example.target.size(); ++k)
      if (example.target[k] == example.target[k - 1])
        BOOST_TEST(example.links[k].source > example.links[k - 1].source);
}

BOOST_AUTO_TEST_CASE(an_example_depends_on_seed_split_and_number_only) {
  SyntheticOptions options;
  options.examples = {10, 10, 10};
  const Order order = [](std::span<const Token> s) { return std::vector<Index>(s.size()); };
  const Dataset few = make_synthetic(options, order, 1);
  options.examples.train = 20;
  const Dataset more = make_synthetic(options, order, 1);
  for (std::size_t i = 0; i < 10; ++i)
    BOOST_TEST(few.train.examples[i].source == more.train.examples[i].source);
  BOOST_TEST(few.train.examples[0].source_text != few.dev.examples[0].source_text);
  BOOST_TEST(few.train.examples[0].source_text !=
             make_synthetic(options, order, 2).train.examples[0].source_text);
}

BOOST_AUTO_TEST_CASE(lengths_are_checked) {
  SyntheticOptions options;
  for (const std::vector<Index>& length :
       {std::vector<Index>{5, 4}, {0, 4}, {4}, {4, 5, 6}, std::vector<Index>{}}) {
    options.length.dev = length;
    BOOST_TEST(message_of<SpecError>([&] { check(options); }).starts_with("task: length.dev is ["));
  }
}

BOOST_AUTO_TEST_CASE(names_are_short_and_all_different) {
  const std::vector<std::string> names = symbol_names(54);
  BOOST_TEST(names[0] == "a");
  BOOST_TEST(names[26] == "A");
  BOOST_TEST(names[53] == "s53");
  BOOST_TEST(std::set<std::string>(names.begin(), names.end()).size() == 54u);
}

BOOST_AUTO_TEST_SUITE_END()
