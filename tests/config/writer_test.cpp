#include "framework/config/writer.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "framework/config/help.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/value.hpp"
#include "framework/config/yaml.hpp"
#include "tests/config/example.hpp"

using namespace softalign;
using namespace softalign::test;
using example::Example;

namespace {

std::string json(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return canonical_json(parse_spec<Example>(text, "x.yaml", overrides).spec);
}

struct Limited {
  std::optional<Index> limit = {};
  std::string name = "x  # default";
  template <class V>
  void describe(V& v) {
    v("limit", limit, "the most; null: no limit; not below 1");
    v("name", name, "a name");
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(writer)

BOOST_AUTO_TEST_CASE(the_resolved_spec_shows_every_value_and_its_origin) {
  const auto r = parse_spec<Example>(
      "name: a b\nrate: 1\nscore: {type: additive, units: 3}\n", "x.yaml", {"seed=2"});
  BOOST_TEST(resolved_yaml(r.spec, r.origins) ==
             "name: \"a b\"          # x.yaml:1\n"
             "seed: 2              # override 1 ('seed=2')\n"
             "shuffle: true        # default\n"
             "rate: 1.0            # x.yaml:2\n"
             "dropout: 0.1         # default\n"
             "readout: maxout      # default\n"
             "lengths: [10, 20]    # default\n"
             "betas: [0.9, 0.999]  # default\n"
             "tags: []             # default\n"
             "limit: null          # default\n"
             "stopping: null       # default\n"
             "length:\n"
             "  from: 4            # default\n"
             "  to: 30             # default\n"
             "links: null          # default\n"
             "score:\n"
             "  type: additive     # x.yaml:3\n"
             "  units: 3           # x.yaml:3\n"
             "  gain: 0.1          # default\n");
}

BOOST_AUTO_TEST_CASE(what_null_stands_for_is_shown_of_a_default) {
  const auto r = parse_spec<Limited>("name: b  # default\n", "x.yaml");
  BOOST_TEST(resolved_yaml(r.spec, r.origins) ==
             "limit: null  # default: no limit\n"
             "name: b      # x.yaml:1\n");
  BOOST_TEST(is_default_line("limit: null  # default: no limit"));
  BOOST_TEST(is_default_line("  to: 30             # default"));
  BOOST_TEST(!is_default_line("name: \"x  # default\"  # x.yaml:1"));
  BOOST_TEST(!is_default_line("score:"));
}

BOOST_AUTO_TEST_CASE(the_resolved_spec_reads_back_as_the_same) {
  const Scratch folder;
  folder.write("l.align", "0-0\n");
  const std::string file = folder.write(
      "x.yaml",
      "name: \"#\\\"\\\\\\n\\t\xc3\xa9: \\x7f\"\ntags: ['', '1', 'true', 'null', '- a', 'yes', "
      "a/b.c-d, '~', "
      "' x ', '[', 'a: b']\nlimit: 3\nstopping: {}\nlinks: l.align\nrate: 0.30000000000000004\n"
      "score: {type: mixture, table: l.align, part: general}\n");
  const auto r = load_spec<Example>(file);
  const std::string text = resolved_yaml(r.spec, r.origins);
  const auto again = parse_spec<Example>(text, "resolved.yaml");
  BOOST_TEST(again.spec.name == r.spec.name);
  BOOST_TEST(again.spec.tags == r.spec.tags, boost::test_tools::per_element());
  BOOST_TEST(again.spec.rate == r.spec.rate);
  BOOST_TEST(resolved_yaml(again.spec) == resolved_yaml(r.spec));
  BOOST_TEST(canonical_json(again.spec) == canonical_json(r.spec));
}

BOOST_AUTO_TEST_CASE(canonical_json_is_sorted_and_shortest) {
  const Scratch folder;
  const std::string links = folder.write("l.align", "abc");
  BOOST_TEST(json("links: " + links + "\nscore: {type: additive, units: 3}\nrate: 1e22\n") ==
             R"({"betas":[0.9,0.999],"dropout":0.1,"length":{"from":4,"to":30},"lengths":[10,20],)"
             R"("links":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",)"
             R"("rate":1e+22,"readout":"maxout","score":{"gain":0.1,"type":"additive","units":3},)"
             R"("seed":1,"shuffle":true})");
  const auto whole = nlohmann::json::parse(canonical_json(Example{}));
  BOOST_TEST(!whole.contains("name"));
  BOOST_TEST(whole.at("seed").is_number_integer());
  BOOST_TEST(whole.at("dropout").is_number_float());
}

BOOST_AUTO_TEST_CASE(the_identity_ignores_spelling_but_no_meaning) {
  const std::string one = json("rate: 1\nseed: 3\nscore: additive\n");
  BOOST_TEST(one ==
             json("# again\nscore: {type: additive}\nseed: 3   # x\nrate: 1.0\nname: other\n"));
  BOOST_TEST(one == json("rate: 1e0\nseed: 3\n", {"score.type=additive", "tags=[a]"}));
  BOOST_TEST(one == json("rate: 1\nseed: 3\nscore: {type: additive, units: 256}\nlimit: null\n"));
  BOOST_TEST(one != json("rate: 1.5\nseed: 3\nscore: additive\n"));
  BOOST_TEST(one != json("rate: 1\nseed: 3\nscore: general\n"));
  BOOST_TEST(json("dropout: 0.1") == json("seed: 1"));
  BOOST_TEST(identity("{}") == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
  BOOST_TEST(run_id(identity("{}")) == "44136fa355b3678a");
}

BOOST_AUTO_TEST_CASE(what_makes_no_other_run_is_not_in_the_identity) {
  struct Options {
    Index batch = 64;
    Index shown = 3;
    Index units = 5;
    void describe(OptionVisitor& v) {
      v("batch", batch, "speed", not_in_run_id(between(1, 100)));
      v("shown", shown, "looks", not_in_run_id());
      v("units", units, "size");
    }
  };
  BOOST_TEST(canonical_json(Options{}) == R"({"units":5})");
  BOOST_TEST(canonical_json(Options{8, 4, 6}) == R"({"units":6})");
  const std::vector<OptionHelp> help = help_of(describe_copy(Options{}));
  BOOST_TEST(help[0].help == "speed; does not change the run's id");
  BOOST_TEST(help[2].help == "size");
}

BOOST_AUTO_TEST_CASE(a_file_counts_by_its_bytes_and_is_named_when_it_is_not_there) {
  const Scratch folder;
  const std::string one = folder.write("one/l.align", "abc"),
                    two = folder.write("two/m.align", "abc");
  BOOST_TEST(json("links: " + one) == json("links: " + two));
  folder.write("two/m.align", "abd");
  BOOST_TEST(json("links: " + one) != json("links: " + two));
  const auto data_error = [](const std::string& path) {
    return message_of<DataError>([&] { json("seed: 1\nlinks: " + path); });
  };
  for (const std::string path : {folder.path() / "none", folder.path()})
    BOOST_TEST(data_error(path).starts_with("x.yaml:2:8: " + path + ": "));
}

BOOST_AUTO_TEST_CASE(numbers_are_written_as_short_as_they_read_back) {
  BOOST_TEST(number_text(0.1) == "0.1");
  BOOST_TEST(number_text(1) == "1.0");
  BOOST_TEST(number_text(1e22) == "1e+22");
  BOOST_TEST(number_text(1e15) == "1000000000000000.0");
  BOOST_TEST(number_text(1e-5) == "1e-05");
  // YAML 1.1 reads 1e-05 as a string.
  BOOST_TEST(yaml_number(1e-5) == "1.0e-05");
  BOOST_TEST(yaml_number(-1e22) == "-1.0e+22");
  BOOST_TEST(yaml_number(2.5e-7) == "2.5e-07");
  BOOST_TEST(yaml_number(0.1) == "0.1");
  BOOST_TEST(yaml_number(1) == "1.0");
  BOOST_TEST(number_text(5e-324) == "5e-324");
  for (const float x : {0.1F,
                        1e-3F,
                        0.3F,
                        16777216.F,
                        std::numeric_limits<float>::min(),
                        std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::denorm_min()}) {
    BOOST_TEST(static_cast<float>(widened(x)) == x);
    Limits limits;
    limits.single = true;
    BOOST_TEST(to_number(Value::scalar(number_text(widened(x)), {}), limits) == widened(x));
  }
  BOOST_TEST(number_text(widened(0.1F)) == "0.1");
}

BOOST_AUTO_TEST_CASE(looking_changes_nothing) {
  const auto r = parse_spec<Example>("score: {type: additive, gain: 0.3}", "x.yaml");
  const AnyOptions* const options = r.spec.score.options.get();
  option_leaves(r.spec);
  option_help(r.spec);
  BOOST_TEST(r.spec.score.options.get() == options);
  BOOST_TEST(!r.spec.stopping.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(help)

BOOST_AUTO_TEST_CASE(a_plugin_explains_its_options) {
  const auto entry = Registry::instance().find_if_present("fake_score", "additive");
  const auto options = option_help(*entry->options());
  BOOST_REQUIRE(options.size() == 2u);
  BOOST_TEST((options[0].path == "units" && options[0].type == "integer"));
  BOOST_TEST((options[0].default_value == "256" && options[0].legal == ">= 1"));
  BOOST_TEST((options[0].help == "hidden units" && !options[0].required));
  BOOST_TEST((options[1].path == "gain" && options[1].type == "number"));
  BOOST_TEST((options[1].default_value == "0.1" && options[1].legal.empty()));
}

BOOST_AUTO_TEST_CASE(a_plugin_without_options_has_none_to_explain) {
  const auto entry = Registry::instance().find_if_present("fake_score", "dot");
  BOOST_TEST(option_help(*entry->options()).empty());
}

BOOST_AUTO_TEST_CASE(a_spec_explains_its_blocks_optionals_and_choices) {
  std::map<std::string, OptionHelp> by_path;
  for (const OptionHelp& o : option_help(Example{})) by_path[o.path] = o;
  BOOST_TEST(by_path["stopping"].default_value == "null");
  BOOST_TEST(by_path["stopping"].type == "block");
  BOOST_TEST(by_path["stopping.patience"].default_value == "5");
  BOOST_TEST(by_path["limit"].default_value == "null");
  BOOST_TEST(by_path["limit"].type == "integer");
  BOOST_TEST(by_path["dropout"].legal == "in [0, 1)");
  BOOST_TEST(by_path["rate"].legal == "> 0");
  BOOST_TEST(by_path["readout"].legal == "one of maxout, tanh");
  BOOST_TEST(by_path["betas"].type == "list of numbers");
  BOOST_TEST(by_path["betas"].default_value == "[0.9, 0.999]");
  BOOST_TEST(by_path["links"].default_value == "null");
  BOOST_TEST(by_path["score"].type == "fake_score");
  BOOST_TEST(by_path["score"].default_value == "dot");
  BOOST_TEST(by_path["score"].legal == "one of additive, dot, general, mixture");
  const auto mixture = option_help(*Registry::instance().find("fake_score", "mixture").options());
  BOOST_TEST(mixture.at(1).required);
  BOOST_TEST(mixture.at(1).default_value == "required");
}

// An optional choice needs a type of its own that initialises the kind.
BOOST_AUTO_TEST_CASE(a_choice_may_be_optional) {
  struct Other : Choice {
    Other() : Choice{.kind = "fake_score"} {}
  };
  struct Options {
    std::optional<Other> other;
    void describe(OptionVisitor& v) { v("other", other, "another score; null: none"); }
  };
  const OptionHelp help = option_help(Options{}).at(0);
  BOOST_TEST((help.type == "fake_score" && help.default_value == "null" && !help.required));
  BOOST_TEST(canonical_json(Options{}) == "{}");
  const auto read = [](const std::string& yaml) { return parse_spec<Options>(yaml, "x.yaml"); };
  BOOST_TEST(!read("other: null").spec.other.has_value());
  BOOST_TEST(read("other: {type: additive}").spec.other->type == "additive");
  BOOST_TEST(resolved_yaml(read("{}").spec) == "other: null  # default: none\n");
  BOOST_CHECK_THROW(read("other: {gain: 1}"), SpecError);
}

BOOST_AUTO_TEST_SUITE_END()
