// The gradient estimator of hard attention against its target: the exact gradient of the expected loss of a tiny
// model, over all sequences of positions that can be drawn.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "framework/base/types.hpp"
#include "framework/config/reader.hpp"
#include "framework/config/yaml.hpp"
#include "framework/seq/model.hpp"

using namespace softalign;

namespace {

struct Holder {
  ModelOptions model;
  template <class V>
  void describe(V& v) {
    model.describe(v);
  }
};

// Two sentences: one with 3 positions and 2 steps, one with 2 positions and 1 step.
Batch two_sentences() {
  Batch batch;
  batch.rows = 2;
  batch.source_steps = 3;
  batch.target_steps = 2;
  batch.source = {4, 3, 2, 5, 2, 2};
  batch.target_in = {1, 3, 1, 2};
  batch.target_out = {3, 2, 2, 2};
  batch.source_lengths = {3, 2};
  batch.target_lengths = {2, 1};
  batch.example = {12, 5};
  return batch;
}

constexpr real kFactor = 0.5;

struct Setting {
  Batch batch = two_sentences();
  std::unique_ptr<Model> model;

  explicit Setting(const std::string& hard) {
    Holder holder;
    read_options(parse_flow("{embedding: 3, encoder: {type: gru, units: 3}, decoder: {type: "
                            "attentional_gru, units: 3}, attention: {type: hard, score: general, " +
                                hard + "}}",
                            {}),
                 holder,
                 "the test");
    model = std::make_unique<Model>(holder.model, 6, 6, 3);
    ParameterStore& store = model->parameters();
    for (Index i = 0; i < store.trained_size(); ++i) store.values()[i] *= 3;  // far from uniform
  }
  Parameter baseline() const { return model->parameters().all()[index_of_baseline()]; }

  struct Outcome {
    std::vector<double> nll;         // [B]
    std::vector<double> likelihood;  // [B], of the drawn positions
    std::vector<double> entropy;     // [B], of the weights of all its steps
    std::vector<Index> drawn;        // at unpadded steps, by sentence
    std::vector<double> gradient;    // of the model's loss, if requested
    std::array<double, 2> totals = {};
    double margin = 1;  // smallest distance of a random number from one that draws another position

    double all_likely() const { return likelihood[0] * likelihood[1]; }
  };
  Outcome run(std::uint64_t update, bool gradient, bool noisy = true) const {
    const Noise noise{9, update, batch.example};
    Outcome out;
    out.gradient.resize(usize(model->parameters().flat_size()));
    Tape tape(gradient ? Tape::Mode::train : Tape::Mode::infer, out.gradient.data());
    if (noisy) tape.set_noise(&noise);
    const Model::Forward forward = model->forward(tape, batch, kFactor);
    for (const Totals& one : forward.totals)
      for (std::size_t k = 0; k < one.size(); ++k) out.totals[k] += one[k];
    for (Index b = 0; b < 2; ++b) {
      double nll = 0, likelihood = 1, entropy = 0;
      for (Index t = 0; t < batch.target_lengths[usize(b)]; ++t) {
        nll += forward.losses.nll[usize(b * 2 + t)];
        const real* w = forward.weights[usize(t)].value().data + b * 3;
        for (Index s = 0; s < 3; ++s)
          if (w[s] > 0) entropy -= w[s] * std::log(w[s]);
        if (!noisy) continue;
        out.drawn.push_back(position(noise, w, b, t, out.margin));
        likelihood *= w[out.drawn.back()];
      }
      out.nll.push_back(nll);
      out.likelihood.push_back(likelihood);
      out.entropy.push_back(entropy);
    }
    if (gradient) tape.backward(forward.losses.loss);
    return out;
  }

 private:
  std::size_t index_of_baseline() const {
    const auto& all = model->parameters().all();
    const auto found =
        std::find_if(all.begin(), all.end(), [](const Parameter& one) { return !one.trained; });
    BOOST_REQUIRE((found != all.end() && found->name == "decoder.attention.baseline"));
    return usize(found - all.begin());
  }
  // Draws a position by inverting the cumulative weights, in the way that the plugin documents.
  static Index position(const Noise& noise, const real* w, Index b, Index t, double& margin) {
    const RandomStream named(0, "noise/decoder.attention.positions");
    const double u = noise.stream(named).uniform(0, noise.round(b, t));
    double sum = 0;
    Index drawn = 2;
    for (Index s = 2; s >= 0; --s) {
      sum = w[0] + (s > 0 ? w[1] : 0) + (s > 1 ? w[2] : 0);
      if (u < sum) drawn = s;
      if (s < 2) margin = std::min(margin, std::abs(u - sum));
    }
    return drawn;
  }
};

// Maps each sequence of positions of both sentences to an update that draws it by a safe margin.
std::map<std::vector<Index>, std::uint64_t> all_sequences(const Setting& setting) {
  std::map<std::vector<Index>, std::uint64_t> updates;
  for (std::uint64_t update = 1; update < 20000 && updates.size() < 18; ++update) {
    const Setting::Outcome out = setting.run(update, false);
    if (out.margin > 1e-3) updates.emplace(out.drawn, update);
  }
  BOOST_REQUIRE(updates.size() == 3 * 3 * 2);
  return updates;
}

const char* const kUnbiased = "semi_sampling: 0, entropy: 0, reward: sum, reward_scale: 1";

// The numerical gradient of f by every trained number.
template <class F>
std::vector<double> numeric_gradient(const Setting& setting, F f) {
  ParameterStore& store = setting.model->parameters();
  std::vector<double> gradient;
  for (Index i = 0; i < store.trained_size(); ++i) {
    real& x = store.values()[i];
    const real kept = x;
    x = kept + 1e-5;
    const double above = f();
    x = kept - 1e-5;
    gradient.push_back((above - f()) / 2e-5);
    x = kept;
  }
  return gradient;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}
double norm(const std::vector<double>& a) { return distance(a, std::vector<double>(a.size())); }

std::vector<double> exact_gradient(const Setting& setting,
                                   const std::map<std::vector<Index>, std::uint64_t>& updates) {
  return numeric_gradient(setting, [&] {
    double expected = 0, all = 0;
    for (const auto& [drawn, update] : updates) {
      const Setting::Outcome out = setting.run(update, false);
      BOOST_REQUIRE((out.drawn == drawn));
      all += out.all_likely();
      expected += out.all_likely() * kFactor * (out.nll[0] + out.nll[1]);
    }
    BOOST_REQUIRE(std::abs(all - 1) < 1e-12);  // no possible sequence is missing
    return expected;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hard_attention)

// With any baseline, the estimator's expectation is the gradient of the expected loss.
BOOST_AUTO_TEST_CASE(the_estimator_is_exact_in_expectation) {
  const Setting setting(kUnbiased);
  const auto updates = all_sequences(setting);
  const std::vector<double> exact = exact_gradient(setting, updates);
  for (const double baseline : {0.0, -1.7}) {
    setting.baseline().value().data[0] = baseline;
    std::vector<double> mean(exact.size());
    for (const auto& [drawn, update] : updates) {
      const Setting::Outcome out = setting.run(update, true);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += out.all_likely() * out.gradient[i];
    }
    BOOST_TEST(norm(exact) > 0.1);
    BOOST_TEST(distance(mean, exact) < 1e-7 * norm(exact));
  }
}

// Shows that the test above is sensitive: without the second term of the estimator, its mean is not the gradient.
BOOST_AUTO_TEST_CASE(the_gradient_of_the_context_alone_is_biased) {
  const Setting setting("semi_sampling: 0, entropy: 0, reward_scale: 0");
  const auto updates = all_sequences(setting);
  const std::vector<double> exact = exact_gradient(setting, updates);
  std::vector<double> mean(exact.size());
  for (const auto& [drawn, update] : updates) {
    const Setting::Outcome out = setting.run(update, true);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += out.all_likely() * out.gradient[i];
  }
  BOOST_TEST(distance(mean, exact) > 0.01 * norm(exact));
}

BOOST_AUTO_TEST_CASE(many_draws_converge_to_it) {
  const Setting setting(kUnbiased);
  setting.baseline().value().data[0] = -1.7;
  const std::vector<double> exact = exact_gradient(setting, all_sequences(setting));
  std::vector<double> mean(exact.size());
  double squares = 0;
  constexpr int kDraws = 8000;
  for (int update = 1; update <= kDraws; ++update) {
    std::vector<double> one = setting.run(static_cast<std::uint64_t>(update), true).gradient;
    one.resize(exact.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += one[i] / kDraws;
    squares += std::pow(distance(one, exact), 2) / kDraws;
  }
  const double standard_error = std::sqrt(squares / kDraws);
  BOOST_TEST(standard_error < 0.1 * norm(exact));
  BOOST_TEST(distance(mean, exact) < 2 * standard_error);
}

// For one draw, the gradient is that of factor * (nll + scale (nll / n - b) log p - entropy H), b and the
// second nll held fixed.
BOOST_AUTO_TEST_CASE(options_weigh_its_parts) {
  const Setting setting("semi_sampling: 0, entropy: 0.3, reward_scale: 0.25, reward: mean");
  setting.baseline().value().data[0] = -1.2;
  const std::uint64_t update = all_sequences(setting).begin()->second;
  const Setting::Outcome now = setting.run(update, true);
  const double better[] = {now.nll[0] / 2 - 1.2, now.nll[1] / 1 - 1.2};
  const std::vector<double> expected = numeric_gradient(setting, [&] {
    const Setting::Outcome out = setting.run(update, false);
    double loss = 0;
    for (std::size_t b = 0; b < 2; ++b)
      loss += out.nll[b] + 0.25 * better[b] * std::log(out.likelihood[b]) - 0.3 * out.entropy[b];
    return kFactor * loss;
  });
  BOOST_TEST(distance(now.gradient, expected) < 1e-7 * norm(expected));
  BOOST_TEST(std::abs(now.totals[0] + now.nll[0] / 2 + now.nll[1]) < 1e-12);
  BOOST_TEST(now.totals[1] == 2);
}

// Either all sentences of a batch use the expectation or none, and half of the batches do.
BOOST_AUTO_TEST_CASE(semi_sampling_is_decided_for_a_batch) {
  const Setting setting("semi_sampling: 0.5, test: expectation");
  const Setting::Outcome soft = setting.run(1, false, false);
  int averaged = 0;
  for (std::uint64_t update = 1; update <= 1000; ++update) {
    const Setting::Outcome out = setting.run(update, false);
    const bool first = out.nll[0] == soft.nll[0], second = out.nll[1] == soft.nll[1];
    BOOST_TEST(first == second);
    averaged += first;
  }
  BOOST_TEST(averaged > 450);
  BOOST_TEST(averaged < 550);
  // The gradient of the expectation is exact; only the entropy term is added.
  const Setting always("semi_sampling: 1, entropy: 0.3");
  const std::vector<double> expected = numeric_gradient(always, [&] {
    const Setting::Outcome out = always.run(1, false);
    return kFactor * (out.nll[0] + out.nll[1] - 0.3 * (out.entropy[0] + out.entropy[1]));
  });
  BOOST_TEST(distance(always.run(1, true).gradient, expected) < 1e-7 * norm(expected));
}

BOOST_AUTO_TEST_CASE(the_baseline_is_a_moving_average_that_no_gradient_touches) {
  const Setting setting("baseline_decay: 0.75");
  setting.model->after_update({-6, 2});
  BOOST_TEST(std::abs(setting.baseline().value().data[0] + 0.75) < 1e-12);
  setting.model->after_update({-2, 2});
  BOOST_TEST(std::abs(setting.baseline().value().data[0] + 0.8125) < 1e-12);
  setting.model->after_update({0, 0});  // no batch
  BOOST_TEST(std::abs(setting.baseline().value().data[0] + 0.8125) < 1e-12);
  const ParameterStore& store = setting.model->parameters();
  BOOST_TEST(setting.baseline().offset >= store.trained_size());
  const auto gradient = setting.run(1, true).gradient;
  BOOST_TEST(gradient[usize(setting.baseline().offset)] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
