#include "framework/analysis/run_difference.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tests/record/support.hpp"

using namespace softalign;

BOOST_AUTO_TEST_SUITE(run_difference)

BOOST_AUTO_TEST_CASE(ulps_count_the_numbers_between) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  BOOST_TEST(ulps_between(1.0, 1.0) == 0u);
  BOOST_TEST(ulps_between(1.0, std::nextafter(1.0, 2.0)) == 1u);
  BOOST_TEST(ulps_between(std::nextafter(-1.0, 0.0), -1.0) == 1u);
  BOOST_TEST(ulps_between(0.0, -0.0) == 0u);
  const double least = std::numeric_limits<double>::denorm_min();
  BOOST_TEST(ulps_between(-least, least) == 2u);
  BOOST_TEST(ulps_between(std::numeric_limits<double>::max(), kInfinity) == 1u);
  BOOST_TEST(ulps_between(1.0, 2.0) == 1ull << 52);
  BOOST_TEST(ulps_between(-kInfinity, kInfinity) == 2 * (0x7FFull << 52));
  BOOST_TEST(ulps_between(nan, nan) == 0u);
  BOOST_TEST(ulps_between(nan, 1.0) == std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(ulps_between(1.0f, std::nextafter(1.0f, 0.0f)) == 1u);
  BOOST_TEST(ulps_between(1.0f, 2.0f) == 1ull << 23);
  BOOST_TEST(ulps_between(-1.0f, 1.0f) == 2 * 0x3F800000ull);
}

namespace {

// A record whose loss deviates by two ulps from `update` on, and whose test results then differ, too; 0: no deviation.
std::filesystem::path record(const test::Scratch& scratch,
                             const std::string& name,
                             Index update = 0,
                             float weight = 1) {
  const RunIdentity identity{.name = name,
                             .run_id = test::kRun.run_id,
                             .spec_yaml = test::kRun.spec_yaml,
                             .identity_json = test::kRun.identity_json};
  Recorder recorder(scratch.path(), identity, {});
  for (Index u = 1; u <= 6; ++u) {
    double loss = test::loss_at(u);
    if (update > 0 && u >= update) loss = std::nextafter(std::nextafter(loss, 9.0), 9.0);
    recorder.scalars("train", u, {{"loss", loss}, {"tokens_per_s", static_cast<double>(weight)}});
  }
  const std::vector<float> weights{weight, 2};
  recorder.parameter("W", {2}, weights);
  recorder.array("test", "source", {{"sentence", 2}}, std::vector<std::string>{"a", "b"});
  recorder.array("test", "reference", {{"sentence", 2}}, std::vector<std::string>{"x", "y"});
  recorder.array("test",
                 "hypothesis",
                 {{"sentence", 2}},
                 std::vector<std::string>{"x", update > 0 ? "z" : "y"});
  for (const std::string metric : {"bleu", "chrf"}) {
    const double value = update > 0 ? 21.5 : 20.5;
    if (metric == "chrf" && update > 0) continue;
    recorder.array("test/by_length", metric, {{"bucket", 1}}, std::vector<double>{value});
    recorder.attributes("test", {{metric, value}});
  }
  recorder.end(RunState::complete);
  return recorder.folder().root;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_same_run_again_differs_in_nothing) {
  const test::Scratch scratch;
  const Record a(record(scratch, "a")), b(record(scratch, "b"));
  const RunDifference found = difference_of_runs(a, b);
  BOOST_TEST(found.same_bits());
  BOOST_TEST((found.spec.empty() && found.data.empty() && found.environment.empty()));
  BOOST_REQUIRE(found.series.size() == 1u);  // speed is not a result
  BOOST_TEST(found.series[0].compared == 6);
  BOOST_TEST(found.series[0].different == 0);
  BOOST_TEST(found.hypotheses == 2);
  BOOST_TEST(found.other_hypotheses == 0);
  BOOST_TEST(found.parameters.different == 0);
}

BOOST_AUTO_TEST_CASE(the_first_update_that_differs_is_found_with_its_ulps) {
  const test::Scratch scratch;
  const Record a(record(scratch, "a")), b(record(scratch, "b", 4, std::nextafter(1.0f, 2.0f)));
  const RunDifference found = difference_of_runs(a, b);
  BOOST_TEST(!found.same_bits());
  BOOST_REQUIRE(found.series.size() == 1u);
  const SeriesDifference& loss = found.series[0];
  BOOST_TEST(loss.name == "train/loss");
  BOOST_TEST(loss.first == 4);
  BOOST_TEST(loss.different == 3);
  BOOST_TEST(loss.ulps == 2u);
  BOOST_TEST(loss.a == test::loss_at(4));
  BOOST_TEST(found.other_hypotheses == 1);
  BOOST_TEST(found.parameters.common == 1);
  BOOST_TEST(found.parameters.different == 1);
  BOOST_TEST(found.parameters.ulps == 1u);
  BOOST_TEST(found.parameters.largest == "W");
  BOOST_REQUIRE(found.test.size() == 2u);
  BOOST_TEST((found.test[0].a == 20.5 && found.test[0].b == 21.5));
  BOOST_TEST((found.test[1].name == "chrf" && !found.test[1].b));
  for (const PartDifference& part : found.parts) BOOST_TEST(part.different > 0, part.name);
}

BOOST_AUTO_TEST_SUITE_END()
