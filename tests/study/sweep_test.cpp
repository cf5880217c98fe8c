// The file of a sweep: its keys, its configurations, and the positions of its errors.
#include "framework/study/sweep.hpp"

#include <cmath>

#include <boost/test/unit_test.hpp>
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

Sweep sweep_of(const Scratch& folder, const std::string& text) {
  return read_sweep(folder.write("sweep.yaml", text));
}

// Returns a sweep file with these parameters (each a line of the block) and more keys.
std::string with(const std::string& parameters, const std::string& more = "") {
  return "name: s\nbase: base.yaml\n" + more + "parameters:\n" + parameters;
}

std::string refused(const std::string& text) {
  const Scratch folder;
  return refusal([&] { expand(sweep_of(folder, text), 1000); }, folder.path());
}

std::string listed_values_of(const std::string& block) {
  const Scratch folder;
  std::string text;
  const Sweep sweep = sweep_of(folder, with("  p: " + block));
  for (const Value& value : sweep.parameters.front().values)
    text += (text.empty() ? "" : " ") + value.text;
  return text;
}

// Returns a text such as " a=1 b=x; a=1 b=y".
std::string text_of(const Configurations& found) {
  std::string text;
  for (const Configuration& configuration : found.list) {
    text += text.empty() ? "" : ";";
    for (const Override& s : configuration) text += " " + s.path + "=" + s.value.text;
  }
  return text;
}

std::string expanded(const std::string& text, Index most = 1000) {
  const Scratch folder;
  return text_of(expand(sweep_of(folder, text), most));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sweeps)

BOOST_AUTO_TEST_CASE(lists_of_values_are_what_they_say) {
  BOOST_TEST(listed_values_of("{values: [dot, additive]}") == "dot additive");
  BOOST_TEST(listed_values_of("{value: 3}") == "3");
  BOOST_TEST(listed_values_of("{range: {start: 64, stop: 256, step: 64}}") == "64 128 192 256");
  BOOST_TEST(listed_values_of("{range: {start: 3, stop: 1, step: -1}}") == "3 2 1");
  BOOST_TEST(listed_values_of("{range: {start: 0.1, stop: 0.5, step: 0.1}}") ==
             "0.1 0.2 0.3 0.4 0.5");
  BOOST_TEST(listed_values_of("{linspace: {min: 0.5, max: 2, num: 4}}") == "0.5 1.0 1.5 2.0");
  BOOST_TEST(listed_values_of("{linspace: {min: 64, max: 256, num: 4}}") == "64 128 192 256");
  BOOST_TEST(listed_values_of("{geomspace: {min: 0.0001, max: 0.01, num: 3}}") ==
             "0.0001 0.001 0.01");
  BOOST_TEST(listed_values_of("{geomspace: {min: 32, max: 256, num: 4}}") == "32 64 128 256");
}

BOOST_AUTO_TEST_CASE(a_grid_varies_the_last_parameter_fastest_and_zip_goes_side_by_side) {
  const std::string two = "  a: {values: [1, 2]}\n  b: {values: [x, y]}\n";
  BOOST_TEST(expanded(with(two)) == " a=1 b=x; a=1 b=y; a=2 b=x; a=2 b=y");
  BOOST_TEST(expanded(with(two), 3) == " a=1 b=x; a=1 b=y; a=2 b=x");
  BOOST_TEST(expanded(with(two, "method: zip\n")) == " a=1 b=x; a=2 b=y");
  BOOST_TEST(places_of(refused(
                 with("  a: {values: [1, 2]}\n  b: {values: [x]}\n", "method: zip\n"))) == "6:3");
}

// The keys of a single part may be at the top level of the file.
BOOST_AUTO_TEST_CASE(a_file_may_have_one_part_and_variants) {
  const Scratch folder;
  const std::string part = "name: s\nbase: base.yaml\noverrides: {train.epochs: 2}\n";
  const Sweep study = sweep_of(
      folder, part + "variants: {a: {p: 1}, b: [p=2]}\nclaims: [{claim: bleu(s/a) > bleu(s/b)}]\n");
  BOOST_TEST(study.has_variants());
  BOOST_REQUIRE(study.parts.size() == 1u);
  BOOST_TEST(study.parts[0].name == "s");
  BOOST_TEST(study.parts[0].variants.size() == 2u);
  const Sweep sweep = read_sweep(
      folder.write("sweep.yaml", part + "tiny: {p: 3}\nparameters: {q: {value: 1}}\n"), true);
  BOOST_TEST(sweep.name == "s-tiny");
  BOOST_TEST(sweep.parts[0].changes.size() == 2u);
  BOOST_TEST(sweep.text ==
             sweep_of(folder, "name: s\nbase: base.yaml\nparameters: {q: {value: 1}}\n").text);
  BOOST_TEST(places_of(refused(part + "variants: {a: {p: 1}}\nrun_cap: 4\n")) == "5:10");
  BOOST_TEST(
      places_of(refused("name: s\nparts: {a: {base: base.yaml}}\nparameters: {q: {value: 1}}\n")) ==
      "2:8");
}

BOOST_AUTO_TEST_CASE(claims_speak_of_the_best_and_change_no_run) {
  const Scratch folder;
  const std::string parameters = "  a: {values: [1, 2]}\n";
  const auto claiming = [&](const std::string& claim) {
    return with(parameters, "claims: [{claim: \"" + claim + "\", expect: open}]\n");
  };
  const Sweep sweep = sweep_of(folder, claiming("bleu(best where a=1) > bleu(best)"));
  BOOST_REQUIRE(sweep.claims.size() == 1u);
  BOOST_TEST(sweep.claims[0].open);
  BOOST_TEST(sweep_of(folder, claiming("bleu(best where a=1.0) > 0")).claims.size() == 1u);
  const std::string types =
      with("  a.type: {types: all}\n", "claims: [{claim: bleu(best where a.type=dot) > 0}]\n");
  BOOST_TEST(sweep_of(folder, types).claims.size() == 1u);
  BOOST_TEST(sweep.text == sweep_of(folder, with(parameters)).text);
  for (const char* of_nothing :
       {"bleu(x/y) > 0", "bleu(best where b=1) > 0", "bleu(best where a=3) > 0"})
    BOOST_TEST(places_of(refused(claiming(of_nothing))) == "3:18");
}

BOOST_AUTO_TEST_CASE(conditions_set_unset_and_exclude) {
  const std::string two = "  a: {values: [1, 2]}\n  b: {values: [x, y]}\n";
  BOOST_TEST(expanded(with(two, "conditions: [{exclude: {a: 1, b: y}}]\n")) ==
             " a=1 b=x; a=2 b=x; a=2 b=y");
  BOOST_TEST(expanded(with(two, "conditions: [{when: {a: 1.0}, set: {c: 7}}]\n")) ==
             " a=1 b=x c=7; a=1 b=y c=7; a=2 b=x; a=2 b=y");
  // b is unset if a is 1: one configuration, not two.
  BOOST_TEST(expanded(with(two, "conditions: [{when: {a: 1}, unset: [b]}]\n")) ==
             " a=1; a=2 b=x; a=2 b=y");
  for (const auto& [conditions, place] :
       std::map<std::string, std::string>{{"{exclude: {a: 3}}", "3:28"},
                                          {"{when: {aa: 1}, set: {c: 1}}", "3:22"},
                                          {"{exclude: {a: 1}}, {exclude: {a: 2}}", "3:14"}})
    BOOST_TEST(places_of(refused(with(two, "conditions: [" + conditions + "]\n"))) == place);
}

BOOST_AUTO_TEST_CASE(draws_stay_in_their_ranges_and_follow_their_distribution) {
  const Scratch folder;
  const Sweep sweep = sweep_of(
      folder,
      with("  u: {min: 0.5, max: 2.5}\n  i: {min: 1, max: 3}\n"
           "  l: {distribution: log_uniform_values, min: 0.001, max: 1}\n"
           "  n: {distribution: normal, mu: 5, sigma: 2}\n"
           "  q: {distribution: uniform, min: 0, max: 100, q: 16}\n  c: {values: [x, y]}\n",
           "method: random\nrun_cap: 4\n"));
  BOOST_TEST(sweep.parameters[0].kind_text == "uniform (inferred)");
  BOOST_TEST(sweep.parameters[1].kind_text == "int_uniform (inferred)");
  constexpr Index kDraws = 4000;
  double sum = 0, logs = 0, normal = 0, squares = 0;
  std::vector<Index> ints(4, 0);
  for (Index k = 0; k < kDraws; ++k) {
    const auto draw = [&](std::size_t i) { return sweep.parameters[i].draw(1, k, 0); };
    const double u = to_number(draw(0)), l = to_number(draw(2)), n = to_number(draw(3));
    BOOST_REQUIRE((u >= 0.5 && u <= 2.5 && l >= 0.001 && l <= 1));
    sum += u;
    logs += std::log10(l);
    normal += n;
    squares += (n - 5) * (n - 5);
    ++ints.at(usize(to_integer(draw(1), between(1, 3))));
    BOOST_REQUIRE(to_integer(draw(4), between(0, 96)) % 16 == 0);
  }
  // The tolerances are five standard errors of each mean.
  BOOST_TEST(std::abs(sum / kDraws - 1.5) < 5 * 0.577 / std::sqrt(kDraws));
  BOOST_TEST(std::abs(logs / kDraws + 1.5) < 5 * 0.866 / std::sqrt(kDraws));
  BOOST_TEST(std::abs(normal / kDraws - 5) < 5 * 2 / std::sqrt(kDraws));
  BOOST_TEST(std::abs(std::sqrt(squares / kDraws) - 2) < 0.15);
  for (const Index i : {1, 2, 3})
    BOOST_TEST(std::abs(static_cast<double>(ints[usize(i)]) / kDraws - 1.0 / 3) < 0.04);
}

BOOST_AUTO_TEST_CASE(a_drawn_row_is_a_function_of_its_number_and_of_its_parameters_name) {
  const std::string more = "method: random\nrun_cap: 6\n";
  const std::string one = with("  a: {min: 0.5, max: 2.5}\n", more);
  const std::string few = expanded(one, 3), many = expanded(one, 6);
  BOOST_TEST(many.starts_with(few + ";"));
  // Another parameter does not change its draws.
  const std::string two =
      expanded(with("  b: {min: 1, max: 9}\n  a: {min: 0.5, max: 2.5}\n", more), 1);
  BOOST_TEST(two.ends_with(expanded(one, 1)));
  BOOST_TEST(expanded(with("  a: {min: 0.5, max: 2.5}\n", more + "search_seed: 2\n"), 3) != few);
}

BOOST_AUTO_TEST_CASE(draws_that_are_excluded_or_came_before_are_drawn_again) {
  const std::string all =
      expanded(with("  a: {values: [1, 2, 3]}\n",
                    "method: random\nrun_cap: 3\nconditions: [{exclude: {a: 2}}]\n"),
               2);
  BOOST_TEST((all == " a=1; a=3" || all == " a=3; a=1"));
  BOOST_TEST(refused(with("  a: {values: [1, 2]}\n", "method: random\nrun_cap: 3\n")) !=
             "accepted");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_refused_at_its_place) {
  for (const auto& [block, place] : std::map<std::string, std::string>{
           {"{range: {start: 5, stop: 1}}", "4:14"},
           {"{values: []}", "4:15"},
           {"{values: [1, 2, 1.0]}", "4:22"},
           {"{distribution: log_uniform, min: -4, max: -2}", "4:21"},  // ambiguous bounds
           {"{distribution: lognormal, min: 1, max: 2}", "4:21"},
           {"{min: 3, max: 1}", "4:12"},
           {"{min: 1, max: 3}", "4:3"},  // must be drawn, but the method is grid
           {"[1, 2]", "4:3"},
           {"{values: [1], value: 2}", "4:15"},
           {"{valeus: [1]}", "4:7"}})
    BOOST_TEST(places_of(refused(with("  p: " + block))) == place, block);
  for (const auto& [more, place] : std::map<std::string, std::string>{
           {"metric: {name: test/bleu}\n", "3:9"},
           {"metric: {name: dev/length_ratio}\n", "3:9"},  // neither direction is better
           {"metric: {name: dev/loss, goal: maximize}\n", "3:9"},
           {"resources: {cpu: 2}\n", "3:13"},
           {"conditions: [{when: {p: 1}, set: {seed: 4}}]\n", "3:35"},
           {"seeds: 3\n", "3:8"}})
    BOOST_TEST(places_of(refused(with("  p: {value: 1}\n", more))) == place, more);
  BOOST_TEST(refused(with("  p: {value: 1}\n", "method: random\n")) != "accepted");  // no run_cap
  BOOST_TEST(places_of(refused(with("  seed: {values: [1, 2]}\n"))) == "4:3");
  BOOST_TEST(places_of(refused(with("  p: {distribution: uniform, min: 17, max: 31, q: 16}\n",
                                    "method: random\nrun_cap: 1\n"))) == "6:51");
  BOOST_TEST(places_of(refused("name: a/b\nbase: x\nparameters: {p: {value: 1}}")) == "1:7");
}

BOOST_AUTO_TEST_SUITE_END()
