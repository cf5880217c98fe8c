// Files that extend other files, overrides, and blocks whose type is overridden.
#include "framework/config/spec.hpp"

#include "framework/config/writer.hpp"
#include "tests/config/example.hpp"

using namespace softalign;
using namespace softalign::test;
using example::Example;

namespace {

using Texts = std::vector<std::string>;

ResolvedSpec<Example> load(const std::string& text, const Texts& overrides) {
  return parse_spec<Example>(text, "x.yaml", overrides);
}
std::string refused(const std::string& text, const Texts& overrides) {
  return refusal([&] { load(text, overrides); });
}
std::string leaf(const ResolvedSpec<Example>& resolved, const std::string& path) {
  for (const OptionLeaf& l : option_leaves(resolved.spec, resolved.origins))
    if (l.path == path) return l.value + "  # " + l.origin;
  return "none";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(overrides)

BOOST_AUTO_TEST_CASE(set_remove_and_know_where_they_come_from) {
  const auto r = load("seed: 1\nstopping: {patience: 3}\nlength: {to: 9}\n",
                      {"seed=7", "~stopping", "length.from=2", "lengths=[1, 2]", "name=a: b #c"});
  BOOST_TEST(r.spec.seed == 7);
  BOOST_TEST(!r.spec.stopping);
  BOOST_TEST(r.spec.length.from == 2);
  BOOST_TEST(r.spec.length.to == 9);
  BOOST_TEST(r.spec.name == "a: b #c");
  BOOST_TEST(leaf(r, "seed") == "7  # override 1 ('seed=7')");
  BOOST_TEST(leaf(r, "length.to") == "9  # x.yaml:3");
  BOOST_TEST(leaf(r, "length.from") == "2  # override 3 ('length.from=2')");
  BOOST_TEST(leaf(r, "lengths") == "[1, 2]  # override 4 ('lengths=[1, 2]')");
  BOOST_TEST(leaf(r, "rate") == "0.1  # default");
  BOOST_TEST(r.notes.empty());
}

BOOST_AUTO_TEST_CASE(an_option_is_changed_once) {
  BOOST_TEST(places_of(refused("seed: 1", {"seed=2", "name=x", "seed=3"})) == "override 3");
  BOOST_TEST(places_of(refused("stopping: {patience: 3}", {"~stopping", "stopping={}"})) ==
             "override 2");
}

BOOST_AUTO_TEST_CASE(an_optional_block_comes_and_goes) {
  BOOST_TEST(load("seed: 1", {"stopping.patience=2"}).spec.stopping.value().patience == 2);
  BOOST_TEST(load("seed: 1", {"stopping={}"}).spec.stopping.value().patience == 5);
  const auto r = load("stopping: {patience: 3}", {"stopping=null"});
  BOOST_TEST(!r.spec.stopping);
  BOOST_TEST(leaf(r, "stopping") == "null  # override 1 ('stopping=null')");
}

BOOST_AUTO_TEST_CASE(errors_name_the_override) {
  BOOST_TEST(places_of(refused("seed: 1", {"name=x", "seed=1.5"})) == "override 2");
  std::string deep = "a";
  for (int i = 0; i < 10000; ++i) deep += ".a";
  Texts wrong = words_of(
      "sede=3 seed ~seed=1 ~stopping.patiense seed.x=2 =3 .a=3 a..b=3 a.=3 --threads=3 seed= ~");
  for (const std::string& more :
       {std::string("a b=3"), deep + "=1", "name=" + std::string(10000, '[')})
    wrong.push_back(more);
  for (const std::string& change : wrong)
    BOOST_TEST(places_of(refused("seed: 1", {change})) == "override 1", change.substr(0, 40));
  BOOST_TEST(refused("seed: 1", {"a\nb=3"}).starts_with("override 1 ('a\\nb=3'): "));
}

BOOST_AUTO_TEST_CASE(a_plugin_name_over_a_block_starts_from_the_defaults_and_says_so) {
  const auto r = load("score: {type: additive, units: 3}", {"score=general"});
  BOOST_TEST(leaf(r, "score.type") == "general  # override 1 ('score=general')");
  BOOST_TEST(leaf(r, "score.units") == "128  # default");
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0].ends_with("units (x.yaml:1)"));
  const auto late = load("score: {type: additive}", {"score.units=3", "score=general"});
  BOOST_TEST(late.notes.at(0).ends_with(": units (override 1 ('score.units=3'))"));
  BOOST_TEST(load("score: {type: additive}", {"score=general"}).notes.empty());  // nothing dropped
  BOOST_TEST(load("stopping: {patience: 3}", {"stopping=null"}).notes.empty());
}

BOOST_AUTO_TEST_CASE(a_new_type_keeps_the_options_it_shares_and_says_so) {
  const auto r =
      load("score: {type: additive, units: 3, gain: 2}", {"score.type=general", "score.bias=true"});
  BOOST_TEST(leaf(r, "score.units") == "3  # x.yaml:1");
  BOOST_TEST(leaf(r, "score.bias") == "true  # override 2 ('score.bias=true')");
  BOOST_TEST(leaf(r, "score.gain") == "none");
  BOOST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(r.notes[0].ends_with("kept units (x.yaml:1); dropped gain (x.yaml:1)"));
}

BOOST_AUTO_TEST_CASE(what_neither_type_has_is_still_refused) {
  BOOST_TEST(places_of(refused("score: {type: additive, unitz: 3}", {"score.type=general"})) ==
             "1:25");
  const std::string base = "score: {type: additive, gain: 1}";
  BOOST_TEST(refused(base, {"score.gain=2", "score.type=general"}) == "accepted");
  BOOST_TEST(places_of(refused(base, {"score.type=general", "score.gain=2"})) == "override 2");
}

BOOST_AUTO_TEST_CASE(the_same_type_again_changes_nothing) {
  const auto same = load("score: {type: additive, units: 3}", {"score.type=additive"});
  BOOST_TEST(leaf(same, "score.units") == "3  # x.yaml:1");
  const auto there_and_back =
      load("score: {type: additive, gain: 3}", {"score={type: dot}", "score.type=additive"});
  BOOST_TEST(leaf(there_and_back, "score.gain") == "3.0  # x.yaml:1");
  const auto repeated = load("score: {type: additive, gain: 3}",
                             {"score={type: general, bias: true}", "score.type=general"});
  BOOST_TEST(leaf(repeated, "score.bias") ==
             "true  # override 1 ('score={type: general, bias: true}')");
  BOOST_TEST(repeated.notes.size() == 1u);
  BOOST_TEST(same.notes.empty());
  BOOST_TEST(there_and_back.notes.empty());
}

BOOST_AUTO_TEST_CASE(a_shorthand_takes_options) {
  const auto r = load("score: additive", {"score.units=9"});
  BOOST_TEST(leaf(r, "score.units") == "9  # override 1 ('score.units=9')");
  BOOST_TEST(leaf(r, "score.type") == "additive  # x.yaml:1");
  const auto of_default = load("seed: 1", {"score.type=additive", "score.units=9"});
  BOOST_TEST(leaf(of_default, "score.units") == "9  # override 2 ('score.units=9')");
}

BOOST_AUTO_TEST_CASE(an_override_may_stand_in_a_file) {
  SpecTree tree =
      parse_tree("seed: 1", "x.yaml", {parse_override("links=t.align", {"/s/study.yaml", 4, 2})});
  BOOST_TEST(resolve<Example>(tree).spec.links.path == "/s/t.align");
  tree = parse_tree("seed: 1", "x.yaml", {numbered_override("links=t.align", 1)});
  BOOST_TEST(resolve<Example>(tree).spec.links.path ==
             (std::filesystem::current_path() / "t.align").string());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(extends)

BOOST_AUTO_TEST_CASE(files_are_laid_over_each_other_in_order) {
  const Scratch folder;
  folder.write("base/a.yaml",
               "seed: 1\nlengths: [1, 2, 3]\nlength: {from: 2, to: 5}\nlinks: a.align\n");
  folder.write("base/b.yaml", "extends: ../base/a.yaml\nseed: 2\nlength: {to: 6}\n");
  const std::string file = folder.write(
      "exp/x.yaml", "extends: [../base/a.yaml, ../base/b.yaml]\nlengths: [9]\nrate: 0.5\n");
  const auto r = load_spec<Example>(file, {"rate=0.25"});
  const auto at = [&](const std::string& path) {
    std::string text = leaf(r, path);
    const auto folder_at = text.find(folder.path().string());
    return folder_at == std::string::npos
               ? text
               : text.erase(folder_at, folder.path().string().size() + 1);
  };
  BOOST_TEST(at("seed") == "2  # base/b.yaml:2");
  BOOST_TEST(at("lengths") == "[9]  # exp/x.yaml:2");
  BOOST_TEST(at("length.from") == "2  # base/a.yaml:3");
  BOOST_TEST(at("length.to") == "6  # base/b.yaml:3");
  BOOST_TEST(at("rate") == "0.25  # override 1 ('rate=0.25')");
  BOOST_TEST(r.spec.links.path == folder / "base/a.align");
}

BOOST_AUTO_TEST_CASE(circles_and_strays_are_refused) {
  const Scratch folder;
  const auto refused_file = [&](const std::string& name) {
    return refusal([&] { load_spec<Example>(folder / name); }, folder.path().string());
  };
  folder.write("a.yaml", "extends: b.yaml\n");
  folder.write("b.yaml", "seed: 1\nextends: [c.yaml]\n");
  folder.write("c.yaml", "extends: ./a.yaml\n");
  BOOST_TEST(contains(refused_file("a.yaml"), "a.yaml -> b.yaml -> c.yaml -> a.yaml"));
  folder.write("self.yaml", "extends: self.yaml\n");
  BOOST_TEST(contains(refused_file("self.yaml"), "self.yaml -> self.yaml"));
  folder.write("stray.yaml", "extends: [none.yaml]\n");
  BOOST_TEST(places_of(refused_file("stray.yaml")) == "1:11");
  folder.write("long.yaml", "extends: " + std::string(300, 'x') + "\n");
  BOOST_TEST(places_of(refused_file("long.yaml")) == "1:10");
  folder.write("odd.yaml", "extends: {a: b}\n");
  BOOST_TEST(places_of(refused_file("odd.yaml")) == "1:10");
  folder.write("list.yaml", "[a]");
  folder.write("of_list.yaml", "extends: list.yaml");
  BOOST_TEST(refused_file("of_list.yaml").starts_with("list.yaml:1:1: "));
  for (int i = 0; i < 12; ++i)
    folder.write(fmt::format("d{}.yaml", i),
                 fmt::format("extends: [d{0}.yaml, d{0}.yaml]\n", i + 1));
  folder.write("d12.yaml", "seed: 1\n");
  BOOST_TEST(contains(refused_file("d0.yaml"), "more than 100 files"));
}

BOOST_AUTO_TEST_CASE(a_type_changed_by_a_file_obeys_the_same_rule) {
  const Scratch folder;
  folder.write("a.yaml", "score: {type: additive, units: 3, gain: 2}\n");
  const std::string file = folder.write("b.yaml", "extends: a.yaml\nscore: {type: general}\n");
  const auto r = load_spec<Example>(file);
  BOOST_TEST(leaf(r, "score.units").starts_with("3  # "));
  BOOST_TEST_REQUIRE(r.notes.size() == 1u);
  BOOST_TEST(contains(r.notes[0], "'additive' became 'general'; kept units"));
}

BOOST_AUTO_TEST_SUITE_END()
