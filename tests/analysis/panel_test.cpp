// Panels of figures, and the assignment of runs to panels and series.
#include "framework/analysis/panel.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/analysis/differences.hpp"

using namespace softalign;

namespace {

using Names = std::vector<std::string>;

// A complete run of a synthetic task with this score; loss: the final dev loss.
Run run(const std::string& task, const std::string& score, Index seed, double loss) {
  const std::string configuration =
      fmt::format(R"({{"score":{{"type":"{}"}},"task":{{"type":"{}"}}}})", score, task);
  Run run;
  run.path = fmt::format("results/{}-{}/{}", task, score, seed);
  run.name = task + "-" + score;
  run.run_id = fmt::format("{}{}{}", task, score, seed);
  run.identity = fmt::format(R"({{"seed":{},{})", seed, configuration.substr(1));
  run.status.state = RunState::complete;
  run.complete = true;
  run.dev = {{10}, {{"loss", {loss}}}};
  run.test = {
      {"all"}, {4}, {"exact_match"}, {metric_named("exact_match")->facts()}, {{100 - loss}}};
  run.configuration = configuration;
  run.seed = seed;
  return run;
}

std::vector<Run> two_tasks() {
  std::vector<Run> runs = {run("copy", "additive", 1, 3),
                           run("copy", "dot", 1, 2),
                           run("copy", "dot", 2, 1),
                           run("sort", "dot", 1, 5)};
  for (Run& run : runs) run.test_set = run.name.substr(0, 4);
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(panel)

BOOST_AUTO_TEST_CASE(a_panel_is_a_test_set_and_a_series_a_configuration) {
  std::vector<Run> runs = two_tasks();
  runs[1].test_set.clear();  // not tested yet: its task decides the panel
  place_by_test_set(runs);
  BOOST_TEST(runs[0].panel == "copy-additive, copy-dot");
  BOOST_TEST(runs[1].panel == runs[0].panel);
  BOOST_TEST(runs[3].panel == "sort-dot");
  BOOST_TEST(runs[0].series == "additive");
  BOOST_TEST(runs[1].series == "dot");
  BOOST_TEST(runs[2].series == "dot");
  BOOST_TEST(runs[3].series == "sort-dot");
  runs.pop_back();
  for (Run& run : runs) run.panel.clear();
  place_by_test_set(runs);
  BOOST_TEST(runs[0].panel.empty());  // a single panel needs no name
}

// Names consist of the type of attention and, if it differs, the score; only of the score if no attention but the usual
// one has a score.
BOOST_AUTO_TEST_CASE(legends_name_the_attention_before_its_score) {
  const auto names = [](const std::vector<std::string>& attentions) {
    std::vector<std::string> identities;
    for (const std::string& one : attentions)
      identities.push_back(fmt::format(R"({{"model":{{"attention":{{"type":{}}}}}}})", one));
    return legend_names(identities);
  };
  const auto scored = [](const std::string& type, const std::string& score) {
    return fmt::format(R"("{}","score":{{"type":"{}"}})", type, score);
  };
  const auto mocha = [&](const std::string& score) {
    return scored("mocha", score) + R"(,"chunk_score":{"type":"additive"})";
  };
  const std::string none = R"("none")", hops = R"("memory_hops")";
  BOOST_TEST(names({none, scored("global", "additive"), scored("global", "dot")}) ==
             (Names{"none", "additive", "dot"}));
  BOOST_TEST(names({none, scored("global", "additive")}) == (Names{"none", "additive"}));
  BOOST_TEST(names({none, scored("entmax", "additive")}) == (Names{"none", "entmax"}));
  BOOST_TEST(names({scored("global", "additive"), scored("entmax", "additive"), none}) ==
             (Names{"global", "entmax", "none"}));
  BOOST_TEST(names({scored("entmax", "additive"), mocha("additive"), mocha("dot"), hops}) ==
             (Names{"entmax additive", "mocha additive", "mocha dot", "memory_hops"}));
  BOOST_TEST(names({mocha("additive"), mocha("dot"), none}) ==
             (Names{"mocha additive", "mocha dot", "none"}));
}

BOOST_AUTO_TEST_CASE(series_are_ranked_by_their_mean_on_dev) {
  std::vector<Run> runs = two_tasks();
  runs.pop_back();
  place_by_test_set(runs);
  BOOST_TEST(series_of(runs) == (Names{"additive", "dot"}));
  BOOST_TEST(ranked_series(runs, "dev/loss", false) == (Names{"dot", "additive"}));
  BOOST_TEST(ranked_series(runs, "dev/bleu", false) == (Names{"additive", "dot"}));  // in no run
  runs[2].dev.columns["loss"] = {9};
  BOOST_TEST(ranked_series(runs, "dev/loss", false) == (Names{"additive", "dot"}));
  BOOST_TEST(ranked_series(runs, "dev/loss", true) == (Names{"dot", "additive"}));  // more seeds
  runs[2].twin = true;
  BOOST_TEST(ranked_series(runs, "dev/loss", false) == (Names{"dot", "additive"}));
}

BOOST_AUTO_TEST_CASE(records_are_read_of_whole_series_the_first_of_each_panel) {
  std::vector<Run> runs(6);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].panel = i < 5 ? "one" : "two";
    runs[i].series = std::vector{"c", "a", "a", "b", "b", "c"}[i];
  }
  const auto detailed = [&](std::size_t most) {
    return detailed_series(runs, {"a", "b", "c"}, most);
  };
  using All = DetailedSeries;
  BOOST_TEST((detailed(5) == All{{"one", "a"}, {"one", "b"}, {"one", "c"}, {"two", "c"}}));
  BOOST_TEST((detailed(4) == All{{"one", "a"}, {"one", "b"}, {"two", "c"}}));
  BOOST_TEST((detailed(3) == All{{"one", "a"}, {"two", "c"}}));
  BOOST_TEST((detailed(1) == All{{"one", "a"}, {"two", "c"}}));  // always the first of each
  runs[3].twin = true;
  BOOST_TEST(detailed(3).contains({"one", "b"}));
}

BOOST_AUTO_TEST_CASE(what_all_watch_ranks_them) {
  std::vector<Run> runs = two_tasks();
  BOOST_TEST(watched_metric(runs) == "dev/loss");
  const auto watching = [](const char* metric) {
    return fmt::format(R"({{"train":{{"early_stopping":{{"metric":"{}"}}}}}})", metric);
  };
  for (Run& run : runs) run.configuration = watching("dev/bleu");
  BOOST_TEST(watched_metric(runs) == "dev/bleu");
  runs[0].configuration = watching("dev/chrf");
  BOOST_TEST(watched_metric(runs) == "dev/loss");
  for (Run& run : runs) run.configuration = watching("dev/length_ratio");  // no direction is better
  BOOST_TEST(watched_metric(runs) == "dev/loss");
}

BOOST_AUTO_TEST_CASE(the_baseline_is_not_chosen_by_its_score) {
  std::vector<Run> runs = two_tasks();
  runs.pop_back();
  place_by_test_set(runs);
  for (Run& run : runs) run.test_set.clear();  // no record needs to be read
  std::vector<LeftOut> left_out;
  const auto panel_with = [&](bool ordered) {
    const Names series = ranked_series(runs, "dev/loss", false);
    return panel_of("", runs, series, detailed_series(runs, series), ordered, {}, left_out);
  };
  const Panel panel = panel_with(false);
  BOOST_TEST(panel.series == (Names{"dot", "additive"}));
  BOOST_TEST(panel.comparison->baseline == 1u);  // although `compare` sorts additive first
  BOOST_REQUIRE(panel.comparison->against.size() == 1u);
  BOOST_TEST(panel.comparison->against[0].group == 0u);
  BOOST_TEST(panel_with(true).comparison->baseline == 0u);
  runs[1].argument = runs[2].argument = -1;  // listed before the other run on the command line
  BOOST_TEST(panel_with(false).comparison->baseline == 0u);
  BOOST_TEST(left_out.empty());
}

BOOST_AUTO_TEST_CASE(runs_that_cannot_be_compared_are_left_out) {
  std::vector<Run> runs = two_tasks();
  place_by_test_set(runs);
  runs[0].complete = false;
  runs[1].twin = true;
  std::vector<LeftOut> left_out;
  const Panel panel = panel_of(runs[0].panel,
                               runs,
                               series_of(runs),
                               detailed_series(runs, series_of(runs)),
                               false,
                               {},
                               left_out);
  BOOST_TEST(panel.runs.empty());  // the last run has no record that could hold its sentences
  BOOST_REQUIRE(left_out.size() == 1u);
  BOOST_TEST(left_out[0].place == "results/copy-dot/2");
}

BOOST_AUTO_TEST_SUITE_END()
