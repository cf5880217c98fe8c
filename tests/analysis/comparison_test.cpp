#include "framework/analysis/comparison.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <deque>

#include "tests/eval/made_counts.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

// A run with the configuration {"score": .., "units": ..} that translates `right` of its 40 sentences correctly.
Run run(const std::string& score, const std::string& units, Index seed, Index right) {
  Run run;
  run.configuration = fmt::format(R"({{"score":{{"type":"{}"}},"units":{}}})", score, units);
  run.run_id = fmt::format("{}{}{}", score, units, seed);
  run.path = "results/" + run.run_id;
  run.name = "runs";
  run.seed = seed;
  run.test_set = "one";
  std::vector<MadeCounts> sentences;
  run.results.source_lengths = 1 + xt::arange<Index>(40) % 10;
  for (Index i = 0; i < 40; ++i) {
    sentences.push_back({{"exact", {i < right ? 1.0 : 0.0}}});
  }
  run.results.counts = made_counts(sentences);
  run.test = {{"all"},
              {40},
              {"exact_match"},
              {metric_named("exact_match")->facts()},
              {{2.5 * static_cast<double>(right)}}};
  run.dev = {{10, 20, 30, 40}, {{"loss", {3, 1, 2, std::nan("")}}}};
  return run;
}

// Three groups, with three, two and one seeds, in mixed order.
std::vector<Run> some_runs() {
  return {run("dot", "16", 2, 24),
          run("additive", "16", 3, 33),
          run("additive", "16", 1, 31),
          run("dot", "16", 1, 20),
          run("additive", "8", 1, 31),
          run("additive", "16", 2, 35)};
}

const std::vector<MetricName> kExact = {metric_name("exact_match")};

}  // namespace

BOOST_AUTO_TEST_SUITE(comparison)

BOOST_AUTO_TEST_CASE(runs_that_differ_in_the_seed_alone_are_a_group) {
  const auto runs = some_runs();
  const Comparison found = compare(runs, kExact);
  BOOST_REQUIRE(found.groups.size() == 3u);
  const std::vector<std::pair<std::string, std::string>> first = {{"score.type", "additive"},
                                                                  {"units", "8"}};
  BOOST_TEST((found.groups[0].parameters == first));  // sorted as numbers: 8 before 16
  BOOST_TEST(found.groups[1].parameters[1].second == "16");
  BOOST_TEST(found.groups[2].parameters[0].second == "dot");
  std::vector<Index> seeds;
  for (const Run* run : found.groups[1].runs) seeds.push_back(run->seed);
  BOOST_TEST(seeds == (std::vector<Index>{1, 2, 3}), boost::test_tools::per_element());
  const Seeds& cell = found.columns[0].cells[1];
  BOOST_TEST(cell.count == 3);
  BOOST_TEST(cell.mean == 82.5);
  BOOST_TEST(cell.deviation == 5.0);
  BOOST_TEST(found.columns[0].best == 1);
  BOOST_TEST(found.columns[0].facts.units == "percent");
}

BOOST_AUTO_TEST_CASE(groups_come_as_their_runs_were_given) {
  auto runs = some_runs();
  for (Run& run : runs) run.argument = run.run_id.starts_with("dot") ? 0 : 1;
  const Comparison found = compare(runs, kExact);
  BOOST_TEST(found.groups[0].parameters[0].second == "dot");
  BOOST_TEST(found.groups[1].parameters[1].second == "8");
}

BOOST_AUTO_TEST_CASE(a_run_that_lies_in_two_folders_counts_once) {
  auto runs = some_runs();
  runs.push_back(runs[0]);
  runs.back().path = "copies/it";
  BOOST_TEST(compare(runs, kExact).groups[2].runs.size() == 2u);
}

BOOST_AUTO_TEST_CASE(two_that_are_best_are_none) {
  const std::vector<Run> runs = {run("dot", "1", 1, 3), run("additive", "1", 1, 3)};
  BOOST_TEST(compare(runs, kExact).columns[0].best == -1);
  const std::vector<Run> one = {run("dot", "1", 1, 3)};
  BOOST_TEST(compare(one, kExact).columns[0].best == -1);  // a single group has no rival
}

BOOST_AUTO_TEST_CASE(nothing_is_best_of_several_test_sets) {
  std::vector<Run> runs = {run("dot", "1", 1, 3), run("additive", "1", 1, 4)};
  BOOST_TEST(compare(runs, kExact).columns[0].best == 0);
  runs[1].test_set = "another";
  const Comparison found = compare(runs, metric_names("exact_match,dev/loss:best"));
  BOOST_TEST(!found.same_test_set);
  BOOST_TEST(found.columns[0].best == -1);
}

BOOST_AUTO_TEST_CASE(a_series_has_a_last_and_a_best_value) {
  const std::vector<Run> runs = {run("dot", "1", 1, 3), run("dot", "2", 1, 3)};
  const Comparison found = compare(runs, metric_names("dev/loss,dev/loss:best"));
  BOOST_TEST(found.columns[0].cells[0].mean == 2);
  BOOST_TEST(found.columns[1].cells[0].mean == 1);
  BOOST_TEST(found.columns[0].facts.units == "nats");
}

BOOST_AUTO_TEST_CASE(lengths_choose_sentences) {
  const std::vector<Run> runs = {run("dot", "1", 1, 13), run("additive", "1", 1, 20)};
  const Comparison found = compare(runs, kExact, length_range("1-3"));
  BOOST_TEST(found.sentences == 12);
  BOOST_TEST(found.columns[0].cells[1].mean == 100. * 6 / 12);
  BOOST_TEST(found.columns[0].cells[0].mean == 100. * 6 / 12);
}

BOOST_AUTO_TEST_CASE(other_signatures_are_refused) {
  auto runs = some_runs();
  for (Run& run : runs) run.test.facts[0].signature = "tok:none";
  runs[4].test.facts[0].signature = "tok:13a";
  BOOST_TEST(contains(refusal([&] { compare(runs, kExact); }), "results/additive81 has tok:13a"));
  runs[4].test = {};  // a run without values has no signature to compare
  BOOST_TEST(compare(runs, kExact).columns[0].cells[0].count == 0);
}

BOOST_AUTO_TEST_CASE(a_metric_that_nobody_has_is_refused) {
  const auto runs = some_runs();
  BOOST_CHECK_THROW(compare(runs, metric_names("exact_mach")), SpecError);
}

BOOST_AUTO_TEST_CASE(every_group_stands_against_the_baseline) {
  const auto runs = some_runs();
  Comparison found = compare(runs, metric_names("exact_match,dev/loss"));
  found.baseline = 1;  // additive, 16 units
  const auto against = against_baseline(found, {.resamples = 200});
  BOOST_REQUIRE(against.size() == 4u);
  const AgainstBaseline& same = against[0];  // 8 units: equal to the baseline on seed 1
  BOOST_TEST(same.group == 0u);
  BOOST_TEST(same.difference.count == 1);
  BOOST_TEST(same.difference.mean == 0);
  BOOST_TEST(std::isnan(same.estimate.p));  // one seed gives no p-value
  BOOST_TEST(std::isnan(same.estimate.interval.low));
  const AgainstBaseline& worse = against[1];  // dot: 11 more errors with each of two seeds
  BOOST_TEST(worse.difference.count == 2);
  BOOST_TEST(worse.difference.mean == -27.5);
  BOOST_TEST(worse.difference.deviation == 0);
  BOOST_TEST(worse.estimate.value == -27.5);
  BOOST_TEST(worse.estimate.p < 0.01);
  BOOST_TEST(worse.p_holm == worse.estimate.p);  // corrected for a single p-value
  BOOST_TEST(against[2].column == 1u);
  BOOST_TEST(std::isnan(against[2].estimate.error));  // a series has no sentences
  BOOST_TEST(against[2].untested == "");
}

BOOST_AUTO_TEST_CASE(the_baseline_is_the_vanilla_group) {
  const auto with_attention = [](const std::string& type, Index given) {
    Run made = run(type, "16", 1, 20);
    made.configuration =
        fmt::format(R"({{"model":{{"attention":{{"type":"{}"}}}},"units":{}}})", type, given);
    made.argument = given;
    made.run_id = fmt::format("{}{}", type, given);
    return made;
  };
  std::vector<Run> runs = {with_attention("global", 0), with_attention("none", 1)};
  BOOST_TEST(compare(runs, kExact).baseline == 1u);
  BOOST_TEST(group_named(compare(runs, kExact).groups, "none") == 1u);
  runs.push_back(with_attention("none", 2));
  BOOST_TEST(compare(runs, kExact).baseline == 1u);  // the first of two vanilla groups
  runs.erase(runs.begin());
  BOOST_TEST(compare(runs, kExact).baseline == 0u);  // all groups are vanilla
}

BOOST_AUTO_TEST_CASE(infinity_is_another_number_than_one_that_was_recorded) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  BOOST_TEST(is_same_number(9.87, 9.87));
  BOOST_TEST(is_same_number(kInfinity, kInfinity));
  BOOST_TEST(!is_same_number(9.87, kInfinity));
  BOOST_TEST(!is_same_number(kInfinity, 9.87));
  BOOST_TEST(!is_same_number(9.87, kUndefined));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_paired_is_not_tested) {
  std::vector<Run> runs = {
      run("dot", "1", 1, 9), run("dot", "2", 2, 9), run("dot", "3", 1, 9), run("dot", "4", 1, 9)};
  runs[2].test_set = "another";
  runs[3].test.facts[0].signature = "x";
  const std::vector<Run> first(runs.begin(), runs.begin() + 3);
  const auto against = against_baseline(compare(first, kExact), {.resamples = 9});
  BOOST_TEST(against[0].untested == "no seed in common");
  BOOST_TEST(against[0].difference.count == 0);
  BOOST_TEST(against[1].untested == "other test sentences");
  BOOST_TEST(against[1].difference.count == 0);
  for (Run& run : runs) run.test.facts[0].signature = "x";
  const auto other = against_baseline(compare(runs, kExact), {.resamples = 9});
  BOOST_TEST(other.back().untested == "this program's signature is ");
}

BOOST_AUTO_TEST_CASE(a_baseline_is_named_in_many_ways) {
  const auto runs = some_runs();
  const auto groups = compare(runs, kExact).groups;
  BOOST_TEST(group_named(groups, "2") == 1u);
  BOOST_TEST(group_named(groups, "score=dot") == 2u);
  BOOST_TEST(group_named(groups, "score.type=additive units=8") == 0u);
  BOOST_TEST(group_named(groups, "type=dot") == 2u);  // the end of an option's path
  BOOST_TEST(group_named(groups, "dot162") == 2u);
  BOOST_TEST(group_named(groups, "dot") == 2u);  // a value that no other group has
  BOOST_TEST(group_named(groups, "8") == 0u);
  for (const char* of_none_or_several : {"16", "score=additive", "4", "d"})
    BOOST_CHECK_THROW(group_named(groups, of_none_or_several), SpecError);
}

BOOST_AUTO_TEST_CASE(names_of_metrics) {
  BOOST_TEST(metric_name("test/bleu").text == "bleu");
  BOOST_TEST(metric_name("test/bleu").series.empty());
  BOOST_TEST(metric_name("dev/loss").series == "dev");
  BOOST_TEST(metric_name("dev/loss:best").metric == "loss");
  BOOST_TEST(metric_names("bleu,dev/loss").size() == 2u);
  for (const char* wrong : {"",
                            "dev/",
                            "/loss",
                            "bleu,",
                            "a/b/c",
                            "a b",
                            ":best",
                            "dev/loss:last",
                            "bleu:best",
                            "train/tokens:best",
                            "dev/length_ratio:best"})
    BOOST_CHECK_THROW(metric_names(wrong), SpecError);
}

BOOST_AUTO_TEST_CASE(ranges_of_lengths) {
  BOOST_TEST(length_range("31-50").shortest == 31);
  BOOST_TEST(length_range("31-50").longest == 50);
  BOOST_TEST(length_range("40").longest == 40);
  BOOST_TEST(length_range("61+").longest == std::numeric_limits<Index>::max());
  for (const char* wrong : {"",
                            "x",
                            "5-",
                            "-5",
                            "0",
                            "0-4",
                            "9-4",
                            "1-2-3",
                            "7+1",
                            "1 - 2",
                            "010",
                            "1-050",
                            "01+",
                            "99999999999999999999"})
    BOOST_CHECK_THROW(length_range(wrong), SpecError);
}

BOOST_AUTO_TEST_CASE(seeds_by_hand) {
  const Seeds seeds = over_seeds({1, 2, 6});
  BOOST_TEST(seeds.mean == 3, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(seeds.deviation == std::sqrt(7), boost::test_tools::tolerance(1e-12));
  BOOST_TEST(over_seeds({5}).deviation == 0);
  BOOST_TEST(best_of({1, std::nan(""), 3, 2}, true) == 2);
  BOOST_TEST(best_of({1, std::nan(""), 3, 2}, false) == 0);
  BOOST_TEST(best_of({3, 1, 3}, true) == -1);
  BOOST_TEST(best_of({1, 1, 3}, true) == 2);  // the two equal values are not the best
  BOOST_TEST(best_of({std::nan("")}, true) == -1);
}

BOOST_AUTO_TEST_CASE(an_identity_loses_its_seed_and_nothing_else) {
  Index seed = 0;
  BOOST_TEST(without_seed(R"({"seed":7,"task":{"data_seed":2,"seed":3}})", seed) ==
             R"({"task":{"data_seed":2,"seed":3}})");
  BOOST_TEST(seed == 7);
  for (const char* damaged : {"", "{}", "[1]", "{\"seed\":\"x\"}", "{\"seed\":1"})
    BOOST_CHECK_THROW(without_seed(damaged, seed), DataError);
}

BOOST_AUTO_TEST_SUITE_END()
