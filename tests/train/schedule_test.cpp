// Learning-rate schedules against values computed by hand from their formulas.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <map>

#include "framework/config/spec.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/optimizer.hpp"
#include "tests/message.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

std::unique_ptr<Schedule> schedule(const std::string& yaml) {
  const auto resolved =
      parse_spec<Spec>("task: reverse\ntrain: {schedule: " + yaml + "}", "s.yaml");
  return make_plugin<ScheduleKind>(*resolved.spec.train.schedule);
}

double at_update(const std::string& yaml, Index update) {
  return schedule(yaml)->factor({.update = update});
}

// Returns the factor at batch `batch` of 4 in epoch `epoch` (from 0).
double at_batch(const std::string& yaml, Index epoch, Index batch) {
  return schedule(yaml)->factor({.update = 1, .epoch = epoch, .batch = batch, .batches = 4});
}

bool near(double a, double b) { return std::abs(a / b - 1) < 1e-12; }

MetricTable dev(const std::string& metric, double value) {
  return {{"all"}, {1}, {metric}, {{.title = metric}}, {{value}}};
}

std::string fault(const std::string& train) {
  const std::string yaml = "task: reverse\ntrain: {" + train + "}";
  return refusal([&] { check_spec(parse_spec<Spec>(yaml, "s.yaml")); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(constant) { BOOST_TEST(at_update("constant", 12345) == 1); }

BOOST_AUTO_TEST_CASE(exponential) {
  const std::string smooth = "{type: exponential, decay: 0.25, every: 10}";
  BOOST_TEST(at_update(smooth, 1) == 1);
  BOOST_TEST(near(at_update(smooth, 6), 0.5));  // 5 updates made: 0.25^(1/2)
  BOOST_TEST(near(at_update(smooth, 21), 0.0625));
  const std::string stairs = "{type: exponential, decay: 0.25, every: 10, after: 3, stairs: true}";
  BOOST_TEST(at_update(stairs, 13) == 1);
  BOOST_TEST(at_update(stairs, 14) == 0.25);
  BOOST_TEST(at_update(stairs, 23) == 0.25);
}

// Vaswani et al. 2017, equation 3; 512^-1/2 4000^-1/2 = 6.987712429686843e-4 is the highest.
BOOST_AUTO_TEST_CASE(noam) {
  BOOST_TEST(near(at_update("noam", 1), 1.746928107421711e-7));
  BOOST_TEST(near(at_update("noam", 4000), 6.987712429686843e-4));
  BOOST_TEST(near(at_update("noam", 16000), 6.987712429686843e-4 / 2));
  BOOST_TEST(near(at_update("{type: noam, size: 4, warmup: 1}", 100), 0.05));
}

BOOST_AUTO_TEST_CASE(cosine) {
  const std::string yaml = "{type: cosine, updates: 8, least: 0.2}";
  BOOST_TEST(at_update(yaml, 1) == 1);
  BOOST_TEST(near(at_update(yaml, 3), 0.2 + 0.4 * (1 + std::sqrt(0.5))));
  BOOST_TEST(near(at_update(yaml, 5), 0.6));
  BOOST_TEST(near(at_update(yaml, 9), 0.2));
  BOOST_TEST(near(at_update(yaml, 100), 0.2));
}

BOOST_AUTO_TEST_CASE(linear) {
  const std::string yaml = "{type: linear, updates: 8, least: 0.2}";
  BOOST_TEST(at_update(yaml, 1) == 1);
  BOOST_TEST(near(at_update(yaml, 3), 0.8));
  BOOST_TEST(at_update(yaml, 9) == 0.2);
  BOOST_TEST(at_update(yaml, 100) == 0.2);
}

BOOST_AUTO_TEST_CASE(warmup) {
  const std::string yaml = "{type: warmup, updates: 4, then: {type: linear, updates: 8}}";
  BOOST_TEST(near(at_update(yaml, 1), 0.25));
  BOOST_TEST(near(at_update(yaml, 3), 0.75 * 0.75));
  BOOST_TEST(near(at_update(yaml, 4), 0.625));
  BOOST_TEST(near(at_update(yaml, 5), 0.5));
  const std::string watching =
      "{type: warmup, updates: 1, then: {type: plateau, metric: dev/bleu}}";
  const auto one = schedule(watching), other = schedule(watching);
  BOOST_TEST(one->watches() == "dev/bleu");
  for (const double value : {2.0, 1.0}) one->evaluated(dev("bleu", value));
  other->restore(one->state());
  BOOST_TEST(other->factor({}) == 0.5);
}

BOOST_AUTO_TEST_CASE(halve_after) {
  const std::string luong = "{type: halve_after, epochs: 5}";
  BOOST_TEST(at_batch(luong, 4, 3) == 1);
  BOOST_TEST(at_batch(luong, 5, 0) == 0.5);
  BOOST_TEST(at_batch(luong, 5, 3) == 0.5);
  BOOST_TEST(at_batch(luong, 9, 1) == 1.0 / 32);  // the tenth epoch
  const std::string often = "{type: halve_after, epochs: 1.5, every: 0.5, factor: 0.1}";
  BOOST_TEST(at_batch(often, 1, 1) == 1);
  BOOST_TEST(near(at_batch(often, 1, 2), 0.1));
  BOOST_TEST(near(at_batch(often, 2, 0), 0.01));
}

BOOST_AUTO_TEST_CASE(plateau) {
  const std::string yaml =
      "{type: plateau, metric: dev/bleu, factor: 0.5, patience: 1, least: 0.2}";
  const auto one = schedule(yaml);
  const double bleu[] = {10, 12, 12, 11, 11.9, 13, 12, 12, 12, 12};
  const double wanted[] = {1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2};
  for (std::size_t i = 0; i < std::size(bleu); ++i) {
    one->evaluated(dev("bleu", bleu[i]));
    BOOST_TEST(one->factor({}) == wanted[i]);
    if (i == 2) {  // continues in another object from the state
      const auto other = schedule(yaml);
      other->restore(one->state());
      other->evaluated(dev("bleu", bleu[3]));
      BOOST_TEST(other->factor({}) == wanted[3]);
    }
  }
  const auto loss = schedule("plateau");  // of dev/loss, for which less is better
  for (double value : {3.0, 2.0}) loss->evaluated(dev("loss", value));
  BOOST_TEST(loss->factor({}) == 1);
  loss->evaluated(dev("loss", 2.5));
  BOOST_TEST(loss->factor({}) == 0.5);
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused_where_it_stands) {
  for (const auto& [train, place] :
       std::map<std::string, std::string>{{"schedule: {type: plateau, metric: bleu}", "2:43"},
                                          {"schedule: {type: plateau, metric: dev/blue}", "2:43"},
                                          {"average: {metric: dev/length_ratio}", "2:27"},
                                          {"average: {metric: test/bleu}", "2:27"},
                                          {"scheduled_sampling: {k: 0.5}", "2:33"},
                                          {"scheduled_sampling: {type: linear, k: 2}", "2:47"},
                                          {"scheduled_sampling: {type: exponential}", "2:9"},
                                          {"label_smoothing: 1", "2:26"},
                                          {"label_smoothing: -0.1", "2:26"},
                                          {"loss: mean", "2:15"},
                                          {"accumulate: 0", "2:21"},
                                          {"clip_scope: some", "2:21"},
                                          {"average: {type: best, epochs: 0}", "2:39"},
                                          {"average: {type: exponential, decay: 1}", "2:45"},
                                          {"schedule: {type: noam, warmup: 0}", "2:40"},
                                          {"schedule: line", "2:19"},
                                          {"schedule: {type: warmup, then: warmup}", "2:40"},
                                          {"schedule: {type: cosine, least: 1.5}", "2:41"}})
    BOOST_TEST(places_of(fault(train)) == place, train);
}

BOOST_AUTO_TEST_SUITE_END()
