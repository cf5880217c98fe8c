#include "framework/config/reader.hpp"

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
  const auto message = [](const std::string& got, const std::string& hint) {
    return "x.yaml:1:7: seed: expected an integer >= 0, got " + got + hint;
  };
  const std::string octal = "; leading zeros are refused, YAML reads them as octal";
  BOOST_TEST(refused("seed: 010") == message("'010'", octal));
  BOOST_TEST(refused("seed: 1_000") == message("'1_000'", "; write digits without '_'"));
  BOOST_TEST(refused("seed: 0o10") == message("'0o10'", "; write it in decimal"));
  BOOST_TEST(refused("seed: 0x10") == message("'0x10'", "; write it in decimal"));
  BOOST_TEST(refused("seed: '1'") == message("the quoted text '1'", "; remove the quotes"));
  BOOST_TEST(refused("seed: 12abc") == message("'12abc'", ""));
  BOOST_TEST(refused("seed: 1e3") == message("'1e3'", "; write it without a point or an exponent"));
  BOOST_TEST(refused("seed: 4.0") == message("'4.0'", "; write it without a point or an exponent"));
  BOOST_TEST(refused("seed: -1") == message("'-1'", ""));
  BOOST_TEST(refused("seed: 9223372036854775808") ==
             message("'9223372036854775808'", "; it does not fit in 64 bits"));
  BOOST_TEST(refused("seed: true") == message("'true'", ""));
  BOOST_TEST(refused("seed: [1]") == message("a list", ""));
  BOOST_TEST(refused("seed: 1:30") == message("'1:30'", ""));
  BOOST_TEST(refused("seed:") == "x.yaml:1:1: seed: has no value; give one or remove the key");
  BOOST_TEST(read("seed: 9223372036854775807").seed == 9223372036854775807);
  BOOST_TEST(read("seed: +3").seed == 3);
}

BOOST_AUTO_TEST_CASE(numbers_are_strict_and_finite) {
  const auto rate = [](const std::string& text) { return refused("rate: " + text); };
  const std::string start = "x.yaml:1:7: rate: expected a number > 0, got ";
  for (const char* text : {".nan", "nan", ".inf", "-.inf", "Infinity"})
    BOOST_TEST(rate(text) == start + "'" + text + "'; it must be finite");
  BOOST_TEST(rate("0.1f") == start + "'0.1f'");
  BOOST_TEST(rate("0,1") == start + "'0,1'; the decimal mark is a point");
  BOOST_TEST(rate("'0.1'") == start + "the quoted text '0.1'; remove the quotes");
  BOOST_TEST(rate("1_0.5") == start + "'1_0.5'; write digits without '_'");
  BOOST_TEST(contains(rate("00.5"), "leading zeros"));
  BOOST_TEST(rate("1e999") == start + "'1e999'; a float holds 1.4e-45 to 3.4e+38");
  BOOST_TEST(rate("1e39") == start + "'1e39'; a float holds 1.4e-45 to 3.4e+38");
  BOOST_TEST(rate("1e-46") == start + "'1e-46'; a float holds 1.4e-45 to 3.4e+38");
  BOOST_TEST(read("rate: 0.123456789012").rate == 0.123456789012);  // a double keeps its digits
  BOOST_TEST(rate("0") == start + "'0'");
  BOOST_TEST(rate("-1e-3") == start + "'-1e-3'");
  BOOST_TEST(rate("-").starts_with("x.yaml:1:7: not YAML: "));
  BOOST_TEST(read("rate: 1.0e-3").rate == 1e-3);
  BOOST_TEST(read("rate: .5").rate == 0.5);
  BOOST_TEST(read("rate: 2.").rate == 2.0);
  BOOST_TEST(read("rate: 1e+22").rate == 1e22);
  BOOST_TEST(!std::signbit(read("dropout: -0.0").dropout));
}

BOOST_AUTO_TEST_CASE(a_float_must_fit_and_obey_its_limits_as_a_float) {
  const std::string start = "x.yaml:1:10: dropout: expected a number in [0, 1), got ";
  BOOST_TEST(refused("dropout: 1e300") == start + "'1e300'; a float holds 1.4e-45 to 3.4e+38");
  BOOST_TEST(refused("dropout: 1e-300") == start + "'1e-300'; a float holds 1.4e-45 to 3.4e+38");
  BOOST_TEST(refused("dropout: 0.99999999999") == start + "'0.99999999999'; as a float it is 1");
  BOOST_TEST(refused("dropout: 1") == start + "'1'");
  BOOST_TEST(refused("betas: [0.9, 1.5]") ==
             "x.yaml:1:14: betas, item 2: expected a number in [0, 1), got '1.5'");
}

BOOST_AUTO_TEST_CASE(only_true_and_false_are_booleans) {
  const std::string start = "x.yaml:1:10: shuffle: expected true or false, got ";
  for (const char* text : {"yes", "on", "NO", "True", "off"})
    BOOST_TEST(refused(std::string("shuffle: ") + text) ==
               start + "'" + text + "'; only true and false are booleans");
  BOOST_TEST(refused("shuffle: 'true'") == start + "the quoted text 'true'; remove the quotes");
  BOOST_TEST(refused("shuffle: 1") == start + "'1'");
  BOOST_TEST(refused("shuffle: {a: 1}") == start + "a map");
}

BOOST_AUTO_TEST_CASE(texts_lists_and_blocks_want_their_own_shape) {
  BOOST_TEST(refused("readout: maxot") ==
             "x.yaml:1:10: readout: 'maxot' is not known here; did you mean 'maxout'? "
             "legal: maxout, tanh");
  BOOST_TEST(refused("name: [a]") == "x.yaml:1:7: name: expected a text, got a list");
  BOOST_TEST(refused("lengths: 5") == "x.yaml:1:10: lengths: expected a list, as [a, b], got '5'");
  BOOST_TEST(refused("lengths: [5, '6', 0]") ==
             "x.yaml:1:14: lengths, item 2: expected an integer >= 1, got the quoted text '6'; "
             "remove the quotes\n"
             "x.yaml:1:19: lengths, item 3: expected an integer >= 1, got '0'");
  BOOST_TEST(refused("seed: 'many'").ends_with("got the quoted text 'many'"));
  BOOST_TEST(refused("tags: [a, ]") == "accepted");
  BOOST_TEST(read("tags: a.*").tags == std::vector<std::string>{"a.*"});  // the list of it
  BOOST_TEST(refused("tags: {a: 1}") == "x.yaml:1:7: tags: expected a list, as [a, b], got a map");
  BOOST_TEST(refused("tags: [a, ~]") == "x.yaml:1:11: tags, item 2: expected a text, got nothing");
  BOOST_TEST(refused("length: 5") ==
             "x.yaml:1:9: length: expected a map, got '5'; legal: from, to");
  BOOST_TEST(refused("length:\n") ==
             "x.yaml:1:1: length: has no value; give one or remove the key");
  BOOST_TEST(refused("stopping: 5") ==
             "x.yaml:1:11: stopping: expected a map, got '5'; legal: metric, patience");
  BOOST_TEST(refused("links: ''") == "x.yaml:1:8: links: the name of the file is empty");
  BOOST_TEST(refused("- a\n") ==
             "x.yaml:1:1: a spec must be a map of options, as seed: 1, not a list");
}

BOOST_AUTO_TEST_CASE(unknown_keys_name_their_place_and_the_nearest) {
  BOOST_TEST(refused("from: 3").starts_with(
      "x.yaml:1:1: unknown key 'from' in the spec; did you mean length.from? legal: name, "));
  BOOST_TEST(refused("score:\n  type: additive\n  gian: 2\n") ==
             "x.yaml:3:3: unknown key 'gian' in fake_score 'additive'; did you mean 'gain'? "
             "legal: type, units, gain");
  BOOST_TEST(refused("length: {too: 3}") ==
             "x.yaml:1:10: unknown key 'too' in length; did you mean 'to'? legal: from, to");
  BOOST_TEST(refused("stopping: {patiense: 3}") ==
             "x.yaml:1:12: unknown key 'patiense' in stopping; did you mean 'patience'? "
             "legal: metric, patience");
  BOOST_TEST(refused("sede: 3").starts_with(
      "x.yaml:1:1: unknown key 'sede' in the spec; did you mean 'seed'? legal: name, seed,"));
  BOOST_TEST(refused("score: {type: dot, units: 3}") ==
             "x.yaml:1:20: unknown key 'units' in fake_score 'dot'; legal: type");
}

BOOST_AUTO_TEST_CASE(plugins_are_chosen_by_name) {
  BOOST_TEST(read("score: general").score.type == "general");
  BOOST_TEST(read("score: {}").score.type == "dot");
  BOOST_TEST(refused("score: adictive") ==
             "x.yaml:1:8: unknown fake_score 'adictive'; did you mean 'additive'? "
             "legal: additive, dot, general, mixture");
  BOOST_TEST(
      refused("score: {type: adictive, units: x}")
          .starts_with("x.yaml:1:15: unknown fake_score 'adictive'; did you mean 'additive'?"));
  BOOST_TEST(refused("score: [dot]") ==
             "x.yaml:1:8: score: expected a fake_score, as {type: NAME, ...}, got a list");
  BOOST_TEST(refused("score: {type: [dot]}") ==
             "x.yaml:1:15: score.type: expected the name of a fake_score, got a list");
  BOOST_TEST(refused("score:") == "x.yaml:1:1: score: has no value; give one or remove the key");
}

BOOST_AUTO_TEST_CASE(a_misspelt_type_is_called_that) {
  struct Strict {
    Choice task{.kind = "fake_score"};
    void describe(OptionVisitor& v) { v("task", task, "where sentences come from"); }
  };
  const auto strict = [](const std::string& text) {
    return refusal([&] { parse_spec<Strict>(text, "x.yaml"); });
  };
  BOOST_TEST(strict("task:\n  tpye: additive\n  units: 3\n") ==
             "x.yaml:2:3: unknown key 'tpye' in task; did you mean 'type'?");
  BOOST_TEST(strict("task: {units: 3}") == "x.yaml:1:7: task: missing 'type': which fake_score?");
  BOOST_TEST(
      refused("score: {tpye: additive}") ==
      "x.yaml:1:9: unknown key 'tpye' in fake_score 'dot'; did you mean 'type'? legal: type");
}

BOOST_AUTO_TEST_CASE(what_contradicts_is_refused_where_it_is_written) {
  BOOST_TEST(refused("seed: 1\nlength:\n  to: 3\n") == "x.yaml:3:7: length.to: 3 is below from, 4");
  BOOST_TEST(refused("length: {from: 40}") == "x.yaml:1:1: length.to: 30 is below from, 40");
  BOOST_TEST(refusal([] { parse_spec<Example>("seed: 1", "x.yaml", {"length.to=3"}); }) ==
             "override 1 ('length.to=3'): length.to: 3 is below from, 4");
  BOOST_TEST(refused("rate: -1\nscore: {type: additive, units: 1, gain: 200}\n") ==
             "x.yaml:1:7: rate: expected a number > 0, got '-1'\n"
             "x.yaml:2:41: score.gain: one unit needs a gain below 100");
}

BOOST_AUTO_TEST_CASE(a_plugin_in_a_plugin) {
  BOOST_TEST(refused("score: {type: mixture, table: t, part: {type: additive, units: 0}}") ==
             "x.yaml:1:64: score.part.units: expected an integer >= 1, got '0'");
}

BOOST_AUTO_TEST_CASE(missing_options_are_named_with_their_block) {
  BOOST_TEST(refused("seed: 1\nscore: {type: mixture}\n") ==
             "x.yaml:2:8: missing 'table' in fake_score 'mixture': weights of the mixture");
  BOOST_TEST(refused("seed: 1\nscore: mixture\n").starts_with("x.yaml:2:8: missing 'table'"));

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
    return refusal([&] { parse_spec<Strict>(text, "x.yaml"); });
  };
  BOOST_TEST(strict("# c\n{}") ==
             "x.yaml:2:1: missing 'task' in the spec: where sentences come from\n"
             "x.yaml:2:1: missing 'length' in the spec: of sentences\n"
             "x.yaml:2:1: missing 'seed' in the spec: root of randomness");
  BOOST_TEST(strict("task: {units: 3}\nlength: {}\nseed: 1") ==
             "x.yaml:1:7: task: missing 'type': which fake_score?");
  BOOST_TEST(strict("task: dot\nlength: {}\nseed: 1") == "accepted");
}

BOOST_AUTO_TEST_CASE(what_stands_for_a_map_is_the_only_fault_of_its_block) {
  struct Source {
    std::string path;
    example::Nested length = {.from = 9, .to = 1};  // against its own law
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
    return refusal([&] { parse_spec<Sources>(text, "x.yaml"); });
  };
  BOOST_TEST(sources("train: {}\n") ==
             "x.yaml:1:1: missing 'path' in train: its file\n"
             "x.yaml:1:1: train.length.to: 1 is below from, 9");
  BOOST_TEST(sources("train: a.txt\n") ==
             "x.yaml:1:8: train: expected a map, got 'a.txt'; legal: path, length");
}

BOOST_AUTO_TEST_CASE(all_faults_are_reported_in_the_order_of_their_places) {
  BOOST_TEST(
      refused("shufle: true\nseed: x\nrate: -1\n") ==
      "x.yaml:1:1: unknown key 'shufle' in the spec; did you mean 'shuffle'? legal: name, "
      "seed, shuffle, rate, dropout, readout, lengths, betas, tags, limit, stopping, length, "
      "links, score\n"
      "x.yaml:2:7: seed: expected an integer >= 0, got 'x'\n"
      "x.yaml:3:7: rate: expected a number > 0, got '-1'");
  std::string many;
  for (int i = 0; i < 100; ++i) many += fmt::format("k{}: 1\n", i);
  BOOST_TEST(refused(many).ends_with("\nand 80 more"));
}

BOOST_AUTO_TEST_CASE(the_text_of_a_spec_cannot_write_on_the_terminal) {
  const std::string longest(60, 'k');
  BOOST_TEST(
      refused("\"a\\nb\\e[31m\": 1").starts_with("x.yaml:1:1: unknown key 'a\\nb\\x1b[31m' in"));
  BOOST_TEST(refused(std::string(100, 'k') + ": 1")
                 .starts_with("x.yaml:1:1: unknown key '" + longest + "...' in the spec; legal: "));
  BOOST_TEST(refused("seed: \"1\\0\"") ==
             "x.yaml:1:7: seed: expected an integer >= 0, got the "
             "quoted text '1\\x00'; remove the quotes");
  BOOST_TEST(
      refused("score: \"d\\not\"").starts_with("x.yaml:1:8: unknown fake_score 'd\\not'; did"));
  BOOST_TEST(refused("score: " + std::string(100, 'k'))
                 .starts_with("x.yaml:1:8: unknown fake_score '" + longest + "...'; legal: "));
  BOOST_TEST(
      refused("links: \"a\\0b\"")
          .ends_with("/a\\x00b' holds a control character or a byte that is not UTF-8; rename "
                     "the file or its folder"));
  BOOST_TEST(refused("\"a\\nb\": 1\n\"a\\nb\": 2") ==
             "x.yaml:2:1: key 'a\\nb' is given twice, first at x.yaml:1:1; keep one");
  BOOST_TEST(refused("extends: \"a\\nb\"").ends_with("got the quoted text 'a\\nb'"));
}

BOOST_AUTO_TEST_SUITE_END()
