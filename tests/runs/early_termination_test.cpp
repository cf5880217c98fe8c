// The rules of early termination, compared with decisions made by hand.
#include "framework/runs/early_termination.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "framework/base/stored.hpp"
#include "framework/record/file.hpp"
#include "tests/runs/small_study.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

DevHistory history(std::vector<DevValue> values) { return {"dev/loss", std::move(values), {}}; }

EarlyTerminateOptions rule(const std::string& type) {
  return {.type = type, .min_updates = 100, .eta = 3, .startup = 3};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(early_termination)

// Rungs at 100, 300, 900 updates; of n runs at a rung the best n / 3 continue, at least one.
BOOST_AUTO_TEST_CASE(asha_keeps_the_best_third_of_those_that_are_there) {
  const OtherRuns others = {{"b", history({{120, 3.0}, {240, 2.5}})},
                            {"c", history({{110, 2.0}})},
                            {"d", history({{100, 4.0}})},
                            {"e", history({{90, 1.0}})},  // not yet at the rung
                            {"f", history({{130, 5.0}})},
                            {"g", history({{130, 6.0}})}};
  const auto at = [&](double value, bool maximize = false) {
    const auto decisions =
        decide(rule("asha"), maximize, "a", history({{50, 9}, {120, value}}), others);
    BOOST_REQUIRE(decisions.size() == 1u);
    return decisions.front();
  };
  // The runs have 2, value, 3, 4, 5, 6: two of six continue.
  BOOST_TEST(!at(2.5).stop);
  BOOST_TEST(at(2.5).cut == 2.5);
  BOOST_TEST(at(3.5).stop);
  BOOST_TEST(at(3.5).cut == 3.0);
  BOOST_TEST(!at(3.0).stop);  // ties with the last that continues
  BOOST_TEST(at(kNaN).stop);
  BOOST_TEST(!at(5.5, true).stop);
  BOOST_TEST(at(4.5, true).stop);
  BOOST_TEST(at(2.5).rule == "asha rung 0 (100 updates)");
  BOOST_TEST(at(2.5).compared.size() == 5u);
}

BOOST_AUTO_TEST_CASE(asha_lets_the_first_go_on_and_decides_once_a_rung) {
  BOOST_TEST(!decide(rule("asha"), false, "a", history({{100, 7}}), {}).front().stop);
  BOOST_TEST(decide(rule("asha"), false, "a", history({{99, 7}}), {}).empty());
  BOOST_TEST(decide(rule("asha"), false, "a", history({{100, 7}, {200, 6}}), {}).empty());
  // Three rungs are passed between 80 and 950.
  BOOST_TEST(decide(rule("asha"), false, "a", history({{80, 7}, {950, 6}}), {}).size() == 3u);
  // No decision is made after the rung that stops the run.
  const OtherRuns others = {{"b", history({{100, 1}})}};
  BOOST_TEST(decide(rule("asha"), false, "a", history({{80, 7}, {950, 6}}), others).size() == 1u);
}

BOOST_AUTO_TEST_CASE(median_compares_the_best_so_far_with_the_others_at_the_same_update) {
  const OtherRuns others = {{"b", history({{100, 1.0}, {200, 0.5}})},
                            {"c", history({{100, 2.0}, {200, 1.5}})},
                            {"d", history({{100, 3.0}, {200, 2.5}})},
                            {"e", history({{100, 0.1}})}};  // has not reached 200
  const auto at = [&](std::vector<DevValue> own) {
    const auto decisions = decide(rule("median"), false, "a", history(std::move(own)), others);
    return decisions.empty() ? PruneDecision{} : decisions.front();
  };
  BOOST_TEST(at({{200, 1.6}}).cut == 1.5);
  BOOST_TEST(at({{200, 1.6}}).stop);
  BOOST_TEST(!at({{200, 1.5}}).stop);
  BOOST_TEST(!at({{100, 1.2}, {200, 9.0}}).stop);  // its best value counts, not its last
  BOOST_TEST(at({{100, 1.6}}).cut == 1.5);         // median of 0.1, 1, 2, 3
  BOOST_TEST(at({{99, 9.0}}).rule.empty());        // before min_updates
  EarlyTerminateOptions patient = rule("median");
  patient.startup = 4;
  const auto none = decide(patient, false, "a", history({{200, 9}}), others);
  BOOST_TEST(!none.front().stop);
  BOOST_TEST(std::isnan(none.front().cut));
}

BOOST_AUTO_TEST_CASE(what_is_published_is_read_back_and_damage_counts_as_nothing) {
  const Scratch folder;
  DevHistory written = history({{10, 1.5}, {20, kNaN}});
  written.decisions.push_back({20, "median", 1.5, kNaN, {{"b", 2.5}, {"c", kNaN}}, true});
  folder.write("early_termination.json", stored_text(written));
  const DevHistory back = read_dev_history(folder.path());
  BOOST_TEST(stored_text(back) == stored_text(written));
  BOOST_TEST(back.decisions.front().stop);
  for (const char* damaged : {"", "{", "[]", R"({"metric": 3, "values": [], "decisions": []})"}) {
    folder.write("early_termination.json", damaged);
    BOOST_TEST(read_dev_history(folder.path()).values.empty());
  }
}

// A resumed run asks for a decision again after the other runs have reported new values.
BOOST_AUTO_TEST_CASE(a_decision_stands_whatever_the_others_do_later) {
  const Scratch folder;
  RunList plan;
  plan.folder = folder.path();
  plan.early_terminate = rule("asha");
  plan.metric.goal = "minimize";
  plan.rows = {{.k = 0, .run_id = "a", .below = "a"}, {.k = 1, .run_id = "b", .below = "b"}};
  for (const ListedRun& row : plan.rows) std::filesystem::create_directory(plan.run(row).root);
  const auto table = [](double loss) {
    return MetricTable{{"all"}, {1}, {"loss"}, {{.title = "loss"}}, {{loss}}};
  };
  const auto pruner_of = [&](std::size_t i) {
    return make_pruner(plan, plan.rows[i])(plan.run(plan.rows[i]).root);
  };
  BOOST_TEST(!pruner_of(0)->stop(100, table(2)));
  BOOST_TEST(!pruner_of(1)->stop(100, table(1)));  // better than a
  BOOST_TEST(!pruner_of(0)->stop(100, table(2)));  // the decision to continue stands
  const auto b = pruner_of(1);
  BOOST_TEST(!b->stop(300, table(1)));
  const auto a = pruner_of(0);
  const auto reason = a->stop(300, table(2));
  BOOST_REQUIRE(reason);
  BOOST_TEST(*reason == "asha rung 1 (300 updates): dev/loss is 2, 1 was needed among 2 runs");
  BOOST_TEST(*pruner_of(0)->stopped_before(300) == *reason);
  BOOST_TEST(!pruner_of(0)->stopped_before(299));
  BOOST_TEST(contains(a->decisions(), "\"cut\": 1.0"));
}

BOOST_AUTO_TEST_SUITE_END()
