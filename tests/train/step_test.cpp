// The sharded step: what it computes does not depend on how it is cut, and a steady step asks for
// no memory.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/task.hpp"
#include "framework/train/step.hpp"

using namespace softalign;

namespace {

struct Setting {
  Dataset data;
  std::unique_ptr<Model> model;
  std::unique_ptr<Optimizer> optimizer;
  explicit Setting(const ModelOptions& options = ModelOptions()) {
    data = make_plugin<TaskKind>(Choice{.kind = "task", .type = "reverse"})->load(1, {});
    model = std::make_unique<Model>(options, data.source->size(), data.target->size(), 1);
    optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = "sgd"});
  }
  std::vector<Batch> batch(Index shards) {
    std::vector<Index> examples;
    for (Index i = 0; i < 32; ++i) examples.push_back(i);
    std::stable_sort(examples.begin(), examples.end(), [&](Index a, Index b) {
      return data.train.examples[usize(a)].source.size() >
             data.train.examples[usize(b)].source.size();
    });
    std::vector<Batch> parts;
    for (const auto& part : cut_into_shards(examples, shards))
      parts.push_back(make_batch(data.train, part));
    return parts;
  }
  // One update of the first 32 sentences.
  StepResult step(const StepOptions& options, Index update = 1, double rate_factor = 1) {
    Workers workers(2);
    TrainingStep step(*model, *optimizer, options, workers);
    return step.run(batch(options.shards), update, rate_factor);
  }
  std::vector<real> values() const {
    const ParameterStore& store = model->parameters();
    return {store.values(), store.values() + store.flat_size()};
  }
};

double norm_of_difference(const std::vector<real>& a,
                          const std::vector<real>& b,
                          Index begin,
                          Index end) {
  double sum = 0;
  for (auto i = usize(begin); i < usize(end); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += d * d;
  }
  return std::sqrt(sum);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training_step)

// Which numbers are left out is a matter of the sentence, not of the shard it is in.
BOOST_AUTO_TEST_CASE(dropout_knows_no_shards) {
  ModelOptions options;
  options.dropout = DropoutOptions{0.3, 0.2, 0.1};
  std::vector<double> norms, losses;
  for (const Index shards : {1, 4}) {
    Setting setting(options), later(options);
    const StepResult result = setting.step({.shards = shards, .seed = 3}, 5);
    norms.push_back(result.gradient_norm);
    losses.push_back(result.nll);
    BOOST_TEST(later.step({.shards = shards, .seed = 3}, 6).nll != result.nll);
  }
  BOOST_TEST(std::abs(norms[1] / norms[0] - 1) < 1e-4);
  BOOST_TEST(std::abs(losses[1] / losses[0] - 1) < 1e-5);

  BOOST_TEST(std::abs(Setting().step({.shards = 1, .seed = 3}, 5).nll / losses[0] - 1) > 1e-4);
}

// Two batches in one update are one batch of both, bit for bit when the shards are the same.
BOOST_AUTO_TEST_CASE(accumulated_batches_are_one_batch) {
  std::vector<std::vector<real>> values;
  for (const bool accumulated : {false, true}) {
    Setting setting;
    Workers workers(2);
    const Index shards = accumulated ? 2 : 4;
    TrainingStep step(*setting.model, *setting.optimizer, {.shards = shards}, workers);
    const std::vector<Batch> whole = setting.batch(4);
    std::vector<Batch> batches;
    for (std::size_t begin : {std::size_t{0}, std::size_t{2}}) {
      std::vector<Index> examples = whole[begin].example;
      examples.insert(
          examples.end(), whole[begin + 1].example.begin(), whole[begin + 1].example.end());
      for (const auto& part : cut_into_shards(examples, 2))
        batches.push_back(make_batch(setting.data.train, part));
    }
    step.run(accumulated ? batches : whole, 1);
    values.push_back(setting.values());
  }
  BOOST_TEST(std::memcmp(values[0].data(), values[1].data(), values[0].size() * sizeof(real)) == 0);
}

// The gradient is the mean over symbols, the mean over sentences, or the sum.
BOOST_AUTO_TEST_CASE(losses_are_divided_by_what_was_asked) {
  using Loss = StepOptions::Loss;
  std::vector<double> norms;
  Index tokens = 0;
  for (const Loss loss : {Loss::sum, Loss::token, Loss::sentence}) {
    const StepResult result = Setting().step({.shards = 4, .loss = loss});
    norms.push_back(result.gradient_norm);
    tokens = result.tokens;
    const double divisor = loss == Loss::sum ? 1 : loss == Loss::token ? double(tokens) : 32;
    BOOST_TEST(std::abs(result.objective * divisor / result.nll - 1) < 1e-5);
  }
  BOOST_TEST(std::abs(norms[0] / norms[1] / static_cast<double>(tokens) - 1) < 1e-4);
  BOOST_TEST(std::abs(norms[0] / norms[2] / 32 - 1) < 1e-4);
}

// Without embeddings: the norm of the rest is brought to clip_norm, and embeddings by the same factor.
BOOST_AUTO_TEST_CASE(clipping_may_leave_embeddings_out_of_the_norm) {
  std::vector<double> of_layers, of_tables;
  for (const double clip : {0.0, 1e-3}) {
    Setting setting;
    const ParameterStore& store = setting.model->parameters();
    const std::vector<real> before = setting.values();
    setting.step({.shards = 2, .clip_norm = clip, .clip_embeddings = false});
    const std::vector<real> after = setting.values();
    of_layers.push_back(norm_of_difference(before, after, 0, store.dense_size()));
    of_tables.push_back(norm_of_difference(before, after, store.dense_size(), store.flat_size()));
  }
  BOOST_TEST(of_tables[0] > 0);
  BOOST_TEST(std::abs(of_layers[1] / (0.1 * 1e-3) - 1) < 0.02);
  BOOST_TEST(std::abs(of_tables[1] / of_tables[0] / (of_layers[1] / of_layers[0]) - 1) < 0.02);
}

// Twice the rate, twice the way.
BOOST_AUTO_TEST_CASE(a_schedule_multiplies_the_rate) {
  std::vector<double> moved;
  for (const double factor : {1.0, 2.0}) {
    Setting setting;
    const std::vector<real> before = setting.values();
    setting.step({.shards = 2}, 1, factor);
    moved.push_back(norm_of_difference(before, setting.values(), 0, std::ssize(before)));
  }
  BOOST_TEST(std::abs(moved[1] / moved[0] - 2) < 1e-3);
}

BOOST_AUTO_TEST_CASE(shards_compute_the_same_step) {
  std::vector<double> norms, losses;
  for (const Index shards : {1, 2, 8}) {
    const StepResult result = Setting().step({.shards = shards, .clip_norm = 1});
    norms.push_back(result.gradient_norm);
    losses.push_back(result.nll / static_cast<double>(result.tokens));
  }
  for (std::size_t i = 1; i < norms.size(); ++i) {
    BOOST_TEST(std::abs(norms[i] / norms[0] - 1) < 1e-4);
    BOOST_TEST(std::abs(losses[i] / losses[0] - 1) < 1e-5);
  }
}

// One table, looked up and multiplied with: every row of it moves, and the same way in shards.
BOOST_AUTO_TEST_CASE(shards_compute_the_same_step_of_tied_tables) {
  for (const char* tied : {"target", "all"}) {
    std::vector<std::vector<real>> after;
    for (const Index shards : {1, 8}) {
      ModelOptions options;
      options.embedding = 128;
      options.tied_embeddings = tied;
      Setting setting(options);
      const ParameterStore& store = setting.model->parameters();
      const auto table =
          std::find_if(store.all().begin(), store.all().end(), [](const Parameter& parameter) {
            return parameter.name == "target.embedding.E";
          });
      BOOST_TEST_REQUIRE((table != store.all().end()));
      const real unknown = table->value().data[kUnknown * 128];  // occurs nowhere
      setting.step({.shards = shards});
      BOOST_TEST(table->value().data[kUnknown * 128] != unknown);
      after.push_back(setting.values());
    }
    real worst = 0;
    for (std::size_t i = 0; i < after[0].size(); ++i)
      worst = std::max(worst, std::abs(after[0][i] - after[1][i]));
    BOOST_TEST(worst < 1e-6f);
  }
}

BOOST_AUTO_TEST_CASE(clipping_bounds_the_step) {
  Setting setting;
  const double clip =
      1e-3;  // sgd with learning rate 0.1: the parameters move by exactly 0.1 * clip
  const std::vector<real> before = setting.values();
  BOOST_TEST(setting.step({.shards = 2, .clip_norm = clip}).gradient_norm > clip);
  const double moved = norm_of_difference(before, setting.values(), 0, std::ssize(before));
  BOOST_TEST(std::abs(moved / (0.1 * clip) - 1) < 0.02);
}

BOOST_AUTO_TEST_CASE(a_loss_that_is_not_finite_updates_nothing) {
  Setting setting;
  const Parameter& table =
      setting.model->parameters().all().front();  // one column of the source embeddings
  for (Index row = 0; row < table.shape[0]; ++row)
    table.value().data[row * table.shape[1]] = std::nanf("");
  const std::vector<real> before = setting.values();
  const StepResult result = setting.step({.shards = 2, .clip_norm = 1});
  BOOST_TEST((!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm)));
  const std::vector<real> after = setting.values();
  BOOST_TEST(std::memcmp(before.data(), after.data(), before.size() * sizeof(real)) == 0);
  BOOST_TEST(!TrainingStep::bad_examples(*setting.model, setting.batch(2)).empty());
}

BOOST_AUTO_TEST_CASE(more_steps_lower_the_loss) {
  Setting setting;
  setting.optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = "adam"});
  Workers workers(2);
  TrainingStep step(*setting.model, *setting.optimizer, {.shards = 4, .clip_norm = 1}, workers);
  const auto batch = setting.batch(4);
  const double first = step.run(batch, 1).nll;
  double last = 0;
  for (Index update = 2; update <= 25; ++update) last = step.run(batch, update).nll;
  BOOST_TEST(last < 0.8 * first);
}

// What is learned by no gradient belongs to the batch, like what is: the same with any number of threads,
// and out of the optimiser's reach.
BOOST_AUTO_TEST_CASE(a_moving_average_follows_the_updates) {
  std::vector<std::vector<real>> after;
  for (const Index threads : {1, 2}) {
    ModelOptions options;
    options.attention.type = "hard";
    Setting setting(options);
    const ParameterStore& store = setting.model->parameters();
    const auto baseline = std::find_if(
        store.all().begin(), store.all().end(), [](const Parameter& one) { return !one.trained; });
    BOOST_REQUIRE((baseline != store.all().end()));
    Workers workers(static_cast<int>(threads));
    TrainingStep step(*setting.model, *setting.optimizer, {.shards = 4, .seed = 7}, workers);
    double average = 0;
    for (Index update = 1; update <= 3; ++update) {
      const StepResult result = step.run(setting.batch(4), update);
      BOOST_TEST(result.attention[1] == 32);  // sentences
      BOOST_TEST(result.attention[0] < 0);
      average = static_cast<double>(
          static_cast<real>(0.9 * average + 0.1 * result.attention[0] / result.attention[1]));
      BOOST_TEST(std::abs(static_cast<double>(*baseline->value().data) / average - 1) < 1e-6);
    }
    after.push_back(setting.values());
  }
  BOOST_TEST((after[0] == after[1]));
}

BOOST_AUTO_TEST_SUITE_END()
