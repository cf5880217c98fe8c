#include "framework/config/reader.hpp"

#include <map>

#include "framework/base/text.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/yaml.hpp"
#include "tests/config/example.hpp"

using namespace softalign;
using namespace softalign::test;
using example::Example;

namespace {

Example read(const std::string& text) { return parse_spec<Example>(text, "x.yaml").spec; }
std::string refused(const std::string& text) {
  return refusal([&] { read(text); });
}
std::string place(const std::string& text) { return places_of(refused(text)); }

const AnyOptions& options(const Choice& choice) {
  BOOST_REQUIRE(choice.options != nullptr);
  return *choice.options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reader)

BOOST_AUTO_TEST_CASE(reads_every_type) {
  const Example e = read(
      "name: 'a b'\nseed: 7\nshuffle: false\nrate: 1\ndropout: 0.25\nreadout: tanh\n"
      "lengths: [5, 6]\nbetas: [0.5]\ntags: [x, '1', 2]\nlimit: 9\nstopping: {patience: 3}\n"
      "length: {to: 12}\nlinks: sub/x.align\nscore: {type: additive, units: 3}\n");
  BOOST_TEST(e.name == "a b");
  BOOST_TEST(e.seed == 7);
  BOOST_TEST(!e.shuffle);
  BOOST_TEST(e.rate == 1.0);
  BOOST_TEST(e.dropout == 0.25F);
  BOOST_TEST(e.readout == "tanh");
  BOOST_TEST(e.lengths == (std::vector<Index>{5, 6}), boost::test_tools::per_element());
  BOOST_TEST(e.betas == (std::vector<float>{0.5F}), boost::test_tools::per_element());
  BOOST_TEST(e.tags == (std::vector<std::string>{"x", "1", "2"}), boost::test_tools::per_element());
  BOOST_TEST(e.limit.value() == 9);
  BOOST_TEST(e.stopping.value().patience == 3);
  BOOST_TEST(e.stopping->metric == "dev/bleu");
  BOOST_TEST(e.length.from == 4);
  BOOST_TEST(e.length.to == 12);
  BOOST_TEST(e.links.path == (std::filesystem::current_path() / "sub/x.align").string());
  BOOST_TEST(e.links.where.str() == "x.yaml:13:8");
  BOOST_TEST(e.score.type == "additive");
  BOOST_TEST(e.score.where.str() == "x.yaml:14:15");
  options(e.score);
}

BOOST_AUTO_TEST_CASE(what_is_not_given_keeps_its_default) {
  const Example e = read("seed: 1\nlimit: ~\nlinks: null\n");
  BOOST_TEST(e.dropout == 0.1F);
  BOOST_TEST(!e.limit);
  BOOST_TEST(!e.stopping);
  BOOST_TEST(e.links.path == "");
  BOOST_TEST(e.score.type == "dot");
  options(e.score);
}

BOOST_AUTO_TEST_CASE(integers_are_strict) {
  for (const std::string& text : words_of(
           "010 1_000 0o10 0x10 '1' 'many' 12abc 1e3 4.0 -1 9223372036854775808 true [1] 1:30"))
    BOOST_TEST(place(fmt::format("seed: {}", text)) == "1:7", text);
  BOOST_TEST(contains(refused("seed: 010"), "leading zeros are refused, YAML reads them as octal"));
  BOOST_TEST(place("seed:") == "1:1");
  BOOST_TEST(read("seed: 9223372036854775807").seed == 9223372036854775807);
  BOOST_TEST(read("seed: +3").seed == 3);
}

BOOST_AUTO_TEST_CASE(numbers_are_strict_and_finite) {
  for (const std::string& text : words_of(
           ".nan nan .inf -.inf Infinity 0.1f 0,1 '0.1' 1_0.5 00.5 1e999 1e39 1e-46 0 -1e-3 -"))
    BOOST_TEST(place(fmt::format("rate: {}", text)) == "1:7", text);
  BOOST_TEST(read("rate: 0.123456789012").rate == 0.123456789012);  // a double keeps its digits
  BOOST_TEST(read("rate: 1.0e-3").rate == 1e-3);
  BOOST_TEST(read("rate: .5").rate == 0.5);
  BOOST_TEST(read("rate: 2.").rate == 2.0);
  BOOST_TEST(read("rate: 1e+22").rate == 1e22);
  BOOST_TEST(!std::signbit(read("dropout: -0.0").dropout));
}

BOOST_AUTO_TEST_CASE(a_float_must_fit_and_obey_its_limits_as_a_float) {
  for (const std::string& text : words_of("1e300 1e-300 0.99999999999 1"))
    BOOST_TEST(place(fmt::format("dropout: {}", text)) == "1:10", text);
  BOOST_TEST(place("betas: [0.9, 1.5]") == "1:14");
}

BOOST_AUTO_TEST_CASE(only_true_and_false_are_booleans) {
  for (const char* text : {"yes", "on", "NO", "True", "off", "'true'", "1", "{a: 1}"})
    BOOST_TEST(place(fmt::format("shuffle: {}", text)) == "1:10", text);
}

BOOST_AUTO_TEST_CASE(texts_lists_and_blocks_want_their_own_shape) {
  for (const auto& [text, where] :
       std::map<std::string, std::string>{{"readout: maxot", "1:10"},
                                          {"name: [a]", "1:7"},
                                          {"lengths: 5", "1:10"},
                                          {"lengths: [5, '6', 0]", "1:14 1:19"},
                                          {"tags: [a, ]", "accepted"},
                                          {"tags: {a: 1}", "1:7"},
                                          {"tags: [a, ~]", "1:11"},
                                          {"length: 5", "1:9"},
                                          {"length:\n", "1:1"},
                                          {"stopping: 5", "1:11"},
                                          {"links: ''", "1:8"},
                                          {"- a\n", "1:1"}})
    BOOST_TEST(place(text) == where, text);
  BOOST_TEST(read("tags: a.*").tags == std::vector<std::string>{"a.*"});  // a list of one
}

BOOST_AUTO_TEST_CASE(what_is_unknown_is_refused_with_the_nearest_name) {
  for (const auto& [text, place, near] : std::vector<std::array<const char*, 3>>{
           {"from: 3", "1:1", "length.from?"},
           {"sede: 3", "1:1", "'seed'?"},
           {"score:\n  type: additive\n  gian: 2\n", "3:3", "'gain'?"},
           {"length: {too: 3}", "1:10", "'to'?"},
           {"stopping: {patiense: 3}", "1:12", "'patience'?"},
           {"score: {type: dot, units: 3}", "1:20", "legal: type"},
           {"score: {tpye: additive}", "1:9", "'type'?"},
           {"score: adictive", "1:8", "'additive'?"},
           {"score: {type: adictive, units: x}", "1:15", "'additive'?"}}) {
    BOOST_TEST(places_of(refused(text)) == place, text);
    BOOST_TEST(contains(refused(text), near), text);
  }
}

BOOST_AUTO_TEST_CASE(plugins_are_chosen_by_name) {
  BOOST_TEST(read("score: general").score.type == "general");
  BOOST_TEST(read("score: {}").score.type == "dot");
  BOOST_TEST(place("score: [dot]") == "1:8");
  BOOST_TEST(place("score: {type: [dot]}") == "1:15");
  BOOST_TEST(place("score:") == "1:1");
  BOOST_TEST(place("score: {type: mixture, table: t, part: {type: additive, units: 0}}") == "1:64");
}

BOOST_AUTO_TEST_CASE(what_contradicts_is_refused_where_it_is_written) {
  BOOST_TEST(place("seed: 1\nlength:\n  to: 3\n") == "3:7");
  BOOST_TEST(place("length: {from: 40}") == "1:1");
  BOOST_TEST(places_of(refusal([] {
               parse_spec<Example>("seed: 1", "x.yaml", {"length.to=3"});
             })) == "override 1");
  BOOST_TEST(place("rate: -1\nscore: {type: additive, units: 1, gain: 200}\n") == "1:7 2:41");
}

struct Unread {
  InputFile one;
  InputFiles several;
  template <class V>
  void describe(V& v) {
    v("one", one, "a file");
    v("several", several, "files");
    for (const char* name : {"one", "several"}) v.inactive(name, true, "nothing reads it");
  }
};

BOOST_AUTO_TEST_CASE(files_without_effect_are_noted) {
  const auto notes = [](const std::string& text) {
    return parse_spec<Unread>(text, "x.yaml").notes;
  };
  BOOST_TEST(notes("{}").empty());
  BOOST_TEST(notes("one: null").empty());
  BOOST_TEST(notes("one: a\nseveral: [b, c]").size() == 2u);
}

BOOST_AUTO_TEST_CASE(missing_options_are_named_with_their_block) {
  for (const char* mixture : {"{type: mixture}", "mixture"})
    BOOST_TEST(place(fmt::format("seed: 1\nscore: {}\n", mixture)) == "2:8");

  struct Strict {
    Choice task{.kind = "fake_score"};
    example::Nested length;
    Index seed = 0;
    void describe(OptionVisitor& v) {
      v("task", task, "where sentences come from");
      v("length", length, "of sentences", required());
      v("seed", seed, "root of randomness", required());
    }
  };
  const auto strict = [](const std::string& text) {
    return places_of(refusal([&] { parse_spec<Strict>(text, "x.yaml"); }));
  };
  BOOST_TEST(strict("# c\n{}") == "2:1 2:1 2:1");
  BOOST_TEST(strict("task: {units: 3}\nlength: {}\nseed: 1") == "1:7");
  BOOST_TEST(strict("task:\n  tpye: additive\n  units: 3\nlength: {}\nseed: 1") == "2:3");
  BOOST_TEST(strict("task: dot\nlength: {}\nseed: 1") == "accepted");
}

BOOST_AUTO_TEST_CASE(what_stands_for_a_map_is_the_only_fault_of_its_block) {
  struct Source {
    std::string path;
    example::Nested length = {.from = 9, .to = 1};  // violates its own constraint
    void describe(OptionVisitor& v) {
      v("path", path, "its file", required());
      v("length", length, "of sentences");
    }
  };
  struct Sources {
    Source train;
    void describe(OptionVisitor& v) { v("train", train, "what is learnt"); }
  };
  const auto sources = [](const std::string& text) {
    return places_of(refusal([&] { parse_spec<Sources>(text, "x.yaml"); }));
  };
  BOOST_TEST(sources("train: {}\n") == "1:1 1:1");
  BOOST_TEST(sources("train: a.txt\n") == "1:8");
}

BOOST_AUTO_TEST_CASE(all_faults_are_reported_in_the_order_of_their_places) {
  BOOST_TEST(place("shufle: true\nseed: x\nrate: -1\n") == "1:1 2:7 3:7");
  std::string many;
  for (int i = 0; i < 100; ++i) many += fmt::format("k{}: 1\n", i);
  BOOST_TEST(refused(many).ends_with("\nand 80 more"));
}

BOOST_AUTO_TEST_CASE(the_text_of_a_spec_cannot_write_on_the_terminal) {
  for (const std::string text : {"\"a\\nb\\e[31m\": 1",
                                 "seed: \"1\\0\\n\"",
                                 "score: \"d\\not\"",
                                 "links: \"a\\0b\"",
                                 "\"a\\nb\": 1\n\"a\\nb\": 2",
                                 "extends: \"a\\nb\""}) {
    const std::string message = refused(text);
    BOOST_TEST((message != "accepted" && !has_control_characters(message)), message);
  }
  for (const std::string& text : {std::string(100, 'k') + ": 1", "score: " + std::string(100, 'k')})
    BOOST_TEST(!contains(refused(text), std::string(61, 'k')));
}

BOOST_AUTO_TEST_SUITE_END()
