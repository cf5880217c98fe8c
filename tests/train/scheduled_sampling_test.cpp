// Symbols that the decoder reads: true ones, its own most probable ones as in a greedy search, or samples.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "framework/base/types.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/spec.hpp"

using namespace softalign;

namespace {

constexpr Index kSymbols = 7;

// Initial values with a large deviation, so that distributions are far from uniform.
const char* const kSpec =
    "task: reverse\n"
    "model: {embedding: 6, encoder: {type: gru, units: 5}, decoder: {type: attentional_gru, units: "
    "6},\n"
    "        attention: {type: global, score: general}, initialise: {type: normal, scale: 1}}\n";

struct Setting {
  std::unique_ptr<Model> model;
  Batch batch;
  Setting() {
    model = std::make_unique<Model>(
        parse_spec<Spec>(kSpec, "s.yaml").spec.model, kSymbols, kSymbols, 4);
    batch.rows = 2;
    batch.source_steps = batch.target_steps = 4;
    batch.source = {4, 5, 6, kEnd, 5, 3, kEnd, kEnd};
    batch.target_out = {6, 5, 4, kEnd, 3, 5, kEnd, kEnd};
    batch.target_in = {kBegin, 6, 5, 4, kBegin, 3, 5, kEnd};
    batch.source_lengths = batch.target_lengths = {4, 3};
    batch.example = {17, 3};
  }

  std::vector<real> nll(const Objective& objective, std::uint64_t update = 1) const {
    Tape tape(Tape::Mode::train);
    const Noise noise{9, update, batch.example};
    tape.set_noise(&noise);
    const auto losses = model->forward(tape, batch, objective).losses.nll;
    return {losses.begin(), losses.end()};
  }
};

std::vector<double> probabilities(const View& logits, Index row) {
  std::vector<double> p;
  double sum = 0;
  for (Index v = 0; v < kSymbols; ++v) {
    p.push_back(std::exp(static_cast<double>(logits.data[row * kSymbols + v])));
    sum += p.back();
  }
  for (double& x : p) x /= sum;
  return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scheduled_sampling)

BOOST_AUTO_TEST_CASE(nothing_but_the_truth_is_teacher_forcing) {
  const Setting setting;
  const auto forced = setting.nll({}), sampled = setting.nll({.truth = 1 - 1e-9});
  BOOST_TEST(forced.size() == 8u);
  for (std::size_t i = 0; i < forced.size(); ++i)
    BOOST_TEST(std::abs(forced[i] - sampled[i]) < 1e-4);
}

BOOST_AUTO_TEST_CASE(argmax_is_what_a_greedy_search_reads) {
  const Setting setting;
  const auto sampled = setting.nll({.truth = 0, .argmax = true});
  Tape tape(Tape::Mode::infer);
  Model::Source source = setting.model->read(tape, setting.batch.source_side());
  std::vector<Token> previous = {kBegin, kBegin};
  int other = 0;
  for (Index t = 0; t < 4; ++t) {
    const Model::Prediction step = setting.model->predict(tape, source, previous);
    for (Index b = 0; b < 2; ++b) {
      const auto at = usize(b * 4 + t);
      const auto p = probabilities(step.logits.value(), b);
      if (t < setting.batch.target_lengths[usize(b)])
        BOOST_TEST(std::abs(static_cast<double>(sampled[at]) +
                            std::log(p[usize(setting.batch.target_out[at])])) < 1e-4);
      const auto best = std::max_element(p.begin(), p.end()) - p.begin();
      previous[usize(b)] = static_cast<Token>(best);
      other += best != setting.batch.target_out[at];
    }
    source.state = step.next;
  }
  BOOST_TEST(other > 2);  // else the test would pass with true symbols
}

// The second step's loss shows which symbol was drawn at the first; the frequencies follow the first
// step's distribution.
BOOST_AUTO_TEST_CASE(draws_follow_the_distribution) {
  const Setting setting;
  Tape tape(Tape::Mode::infer);
  Model::Source source = setting.model->read(tape, setting.batch.source_side());
  const Model::Prediction first =
      setting.model->predict(tape, source, std::vector<Token>{kBegin, kBegin});
  const auto p = probabilities(first.logits.value(), 0);
  source.state = first.next;
  std::vector<double> second;  // loss of row 0 after each symbol
  for (Token v = 0; v < kSymbols; ++v) {
    const auto step = setting.model->predict(tape, source, std::vector<Token>{v, v});
    second.push_back(
        -std::log(probabilities(step.logits.value(), 0)[usize(setting.batch.target_out[1])]));
  }
  constexpr int kDraws = 2000;
  std::vector<int> counts(kSymbols);
  int truths = 0;
  for (std::uint64_t update = 1; update <= kDraws; ++update) {
    const auto losses = setting.nll({.truth = 0}, update);
    std::vector<double> distance;
    for (double loss : second) distance.push_back(std::abs(loss - static_cast<double>(losses[1])));
    const auto nearest = std::min_element(distance.begin(), distance.end());
    BOOST_TEST(*nearest < 1e-4);
    ++counts[usize(nearest - distance.begin())];
    const auto half = setting.nll({.truth = 0.5, .argmax = true}, update);
    truths += std::abs(static_cast<double>(half[1]) - second[6]) < 1e-4;
  }
  for (std::size_t v = 0; v < kSymbols; ++v) {
    const double deviation = std::sqrt(kDraws * p[v] * (1 - p[v])) + 1e-9;
    BOOST_TEST(std::abs(counts[v] - kDraws * p[v]) < 4 * deviation);
  }
  BOOST_TEST(std::abs(truths - kDraws / 2) < 4 * std::sqrt(kDraws / 4));
}

BOOST_AUTO_TEST_CASE(evaluation_reads_the_truth) {
  const Setting setting;
  Tape tape(Tape::Mode::infer);
  const auto forced = setting.nll({});
  const auto evaluated = setting.model->forward(tape, setting.batch, {.truth = 0}).losses.nll;
  for (std::size_t i = 0; i < forced.size(); ++i)
    BOOST_TEST(std::abs(forced[i] - evaluated[i]) < 1e-5);
}

// Bengio et al. 2015, section 2.4.
BOOST_AUTO_TEST_CASE(probabilities_fall_as_in_the_paper) {
  TrainOptions options;
  const auto truth = [&](const ScheduledSamplingOptions& sampling, Index updates) {
    options.scheduled_sampling = sampling;
    return objective_at(options, updates, 0).truth;
  };
  BOOST_TEST(objective_at(options, 7, 0).truth == 1);
  const ScheduledSamplingOptions sigmoid{.type = "inverse_sigmoid", .k = 10};
  BOOST_TEST(std::abs(truth(sigmoid, 0) - 10.0 / 11) < 1e-12);
  BOOST_TEST(std::abs(truth(sigmoid, 20) - 10 / (10 + std::exp(2.0))) < 1e-12);
  BOOST_TEST(truth(sigmoid, 1000000) == 0);
  const ScheduledSamplingOptions exponential{.type = "exponential", .k = 0.5};
  BOOST_TEST(truth(exponential, 0) == 1);
  BOOST_TEST(truth(exponential, 3) == 0.125);
  const ScheduledSamplingOptions linear{.type = "linear", .k = 0.75, .slope = 0.25, .least = 0.3};
  BOOST_TEST(truth(linear, 0) == 0.75);
  BOOST_TEST(truth(linear, 1) == 0.5);
  BOOST_TEST(truth(linear, 2) == 0.3);
}

BOOST_AUTO_TEST_SUITE_END()
