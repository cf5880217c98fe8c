// A training step: its results do not depend on the division of a batch.
#include <fmt/ranges.h>  // fmt::join, from version 11 on
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/types.hpp"
#include "framework/config/help.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/task.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/step.hpp"
#include "tests/thread_ranks.hpp"

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
  TrainingStep::Parts cut(std::span<const Index> examples, Index parts) const {
    TrainingStep::Parts cut;
    for (const auto& part : cut_into_parts(data.train, examples, parts)) {
      cut.push_back(make_batch(data.train, part, model->batch_parts()));
      model->place_links(cut.back());
    }
    return cut;
  }
  TrainingStep::Parts batch(Index parts) const {
    std::vector<Index> examples(32);
    std::iota(examples.begin(), examples.end(), Index{0});
    return cut(examples, parts);
  }
  // One update of the first 32 sentences.
  StepResult step(const StepOptions& options, Index update = 1, double rate_factor = 1) {
    Workers workers(2);
    TrainingStep step(*model, *optimizer, options, workers);
    return step.run(batch(2), update, rate_factor);
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

// Dropout masks depend on sentence and update.
BOOST_AUTO_TEST_CASE(dropout_is_another_one_at_every_update) {
  ModelOptions options;
  options.dropout = DropoutOptions{0.3, 0.2, 0.1};
  Setting setting(options), later(options);
  const double nll = setting.step({.seed = 3}, 5).nll;
  BOOST_TEST(later.step({.seed = 3}, 6).nll != nll);
  BOOST_TEST(std::abs(Setting().step({.seed = 3}, 5).nll / nll - 1) > 1e-4);
}

// w - rate (g + weight_decay w), with a schedule's factor on the rate; also for rows of tables without a gradient.
BOOST_AUTO_TEST_CASE(weights_decay_before_a_step) {
  Setting plain, decayed;
  const std::vector<real> before = plain.values();
  decayed.optimizer = make_plugin<OptimizerKind>(
      parse_spec<Spec>("task: reverse\ntrain: {optimizer: {type: sgd, weight_decay: 0.5}}",
                       "s.yaml")
          .spec.train.optimizer);
  plain.step({}, 1, 0.5);
  decayed.step({}, 1, 0.5);
  const std::vector<real> a = plain.values(), b = decayed.values();
  for (std::size_t i = 0; i < a.size(); ++i)
    BOOST_TEST_REQUIRE(std::abs(a[i] - b[i] - real(0.5 * 0.1 * 0.5) * before[i]) < 1e-6);
}

// Two batches in one update give the bits of one batch of both.
BOOST_AUTO_TEST_CASE(accumulated_batches_are_one_batch) {
  std::vector<std::vector<real>> values;
  for (const bool accumulated : {false, true}) {
    Setting setting;
    Workers workers(2);
    TrainingStep step(*setting.model, *setting.optimizer, {}, workers);
    const TrainingStep::Parts whole = setting.batch(2);
    std::vector<TrainingStep::Parts> batches;
    for (const Batch& half : whole) batches.push_back(setting.cut(half.example, 3));
    if (accumulated)
      step.run(batches, 1);
    else
      step.run(whole, 1);
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
    const StepResult result = Setting().step({.loss = loss});
    norms.push_back(result.gradient_norm);
    tokens = result.tokens;
    const double divisor = loss == Loss::sum ? 1 : loss == Loss::token ? double(tokens) : 32;
    BOOST_TEST(std::abs(result.objective * divisor / result.nll - 1) < 1e-5);
  }
  BOOST_TEST(std::abs(norms[0] / norms[1] / static_cast<double>(tokens) - 1) < 1e-4);
  BOOST_TEST(std::abs(norms[0] / norms[2] / 32 - 1) < 1e-4);
}

// Excluding embeddings: the norm of all other gradients is clipped, and embeddings are scaled by the same factor.
BOOST_AUTO_TEST_CASE(clipping_may_leave_embeddings_out_of_the_norm) {
  std::vector<double> of_layers, of_tables;
  for (const double clip : {0.0, 1e-3}) {
    Setting setting;
    const ParameterStore& store = setting.model->parameters();
    const std::vector<real> before = setting.values();
    setting.step({.clip_norm = clip, .clip_embeddings = false});
    const std::vector<real> after = setting.values();
    of_layers.push_back(norm_of_difference(before, after, 0, store.dense_size()));
    of_tables.push_back(norm_of_difference(before, after, store.dense_size(), store.flat_size()));
  }
  BOOST_TEST(of_tables[0] > 0);
  BOOST_TEST(std::abs(of_layers[1] / (0.1 * 1e-3) - 1) < 0.02);
  BOOST_TEST(std::abs(of_tables[1] / of_tables[0] / (of_layers[1] / of_layers[0]) - 1) < 0.02);
}

// With twice the rate the step is twice as long.
BOOST_AUTO_TEST_CASE(a_schedule_multiplies_the_rate) {
  std::vector<double> moved;
  for (const double factor : {1.0, 2.0}) {
    Setting setting;
    const std::vector<real> before = setting.values();
    setting.step({}, 1, factor);
    moved.push_back(norm_of_difference(before, setting.values(), 0, std::ssize(before)));
  }
  BOOST_TEST(std::abs(moved[1] / moved[0] - 2) < 1e-3);
}

struct Outcome {
  std::vector<real> parameters;
  std::vector<double> numbers;
  bool operator==(const Outcome& other) const {
    return numbers == other.numbers &&
           std::memcmp(
               parameters.data(), other.parameters.data(), parameters.size() * sizeof(real)) == 0;
  }
};

// An update of eleven sentences with all random draws and all losses that the model can have, by plain gradient
// descent with a rate at which every bit of a gradient changes the parameters.
Outcome outcome_of(const ModelOptions& options, Precision precision, Index parts, int threads) {
  Setting setting(options);
  Objective objective{.label_smoothing = real(0.1)};
  if (setting.model->learns_weights()) objective.doubly_stochastic = objective.coverage = 1;
  if (setting.model->steps()) objective.truth = 0.8;
  Workers workers(threads);
  TrainingStep step(
      *setting.model, *setting.optimizer, {.seed = 7, .precision = precision}, workers);
  std::vector<Index> examples(11);
  std::iota(examples.begin(), examples.end(), Index{0});
  const StepResult result = step.run(setting.cut(examples, parts), 1, 1e8, objective);
  BOOST_TEST(std::isfinite(result.objective));
  Outcome outcome{{},
                  {result.nll,
                   result.objective,
                   result.gradient_norm,
                   result.attention[0],
                   result.attention[1]}};
  outcome.parameters = setting.values();
  return outcome;
}

// Returns the plugin with few units, if it has that option. Tests of the kernels cover the blocking of large products.
std::string narrow(const PluginEntry& plugin) {
  const bool units = std::ranges::any_of(option_help(*plugin.options()),
                                         [](const OptionHelp& o) { return o.path == "units"; });
  return fmt::format("{{type: {}{}}}", plugin.name, units ? ", units: 40" : "");
}

// Parts and threads do not change a step, for all plugins in the registry.
BOOST_AUTO_TEST_CASE(how_a_batch_is_cut_sets_no_bits) {
  const std::string narrow_model =
      "{embedding: 24, encoder: {type: gru, units: 20}, decoder: {type: attentional_gru, units: "
      "40}}";
  std::vector<std::vector<std::string>> changes;
  const auto entries = [](const char* kind) { return Registry::instance().entries(kind); };
  for (const PluginEntry* encoder : entries("encoder"))
    if (encoder->name != "image_grid") changes.push_back({"encoder=" + narrow(*encoder)});
  for (const PluginEntry* attention : entries("attention"))
    if (attention->name != "built_in" && attention->name != "supervised")
      changes.push_back({"attention=" + narrow(*attention)});
  for (const PluginEntry* score : entries("score"))
    changes.push_back({fmt::format("attention={{type: global, score: {}}}", narrow(*score))});
  for (const PluginEntry* decoder : entries("decoder"))
    if (decoder->name == "transformer")
      changes.push_back({"decoder=transformer", "attention=built_in", "encoder=self_attention"});
    else if (decoder->name == "convolutional")
      changes.push_back({"decoder=" + narrow(*decoder), "attention=built_in"});
    else
      changes.push_back({"decoder=" + narrow(*decoder)});
  for (const PluginEntry* layer : entries("output_layer"))
    changes.push_back({"output=" + narrow(*layer)});
  changes.push_back({"decoder={type: lstmn, units: 40, fusion: deep}"});
  for (const std::string options :
       {"positions: relative, clip: 2, relative_values: true, attention_dropout: 0.2",
        "positions: relative, relative_shared: true, inner_dropout: 0.2",
        "heads: 2, positions: rotary, attention_dropout: 0.2"})
    changes.push_back({fmt::format("decoder={{type: transformer, {}}}", options),
                       "attention=built_in",
                       fmt::format("encoder={{type: self_attention, {}}}", options)});
  changes.push_back(
      {"embedding=128", "tied_embeddings=all", "encoder.units=256", "decoder.units=256"});
  changes.push_back({"dropout={embeddings: 0.2, outputs: 0.1, words: 0.1}",
                     "encoder={type: lstm, layers: 2, dropout: 0.2, recurrent_dropout: 0.2}",
                     "decoder={type: luong_lstm, layers: 2, dropout: 0.1}"});
  for (const auto& changed : changes)
    BOOST_TEST_CONTEXT(fmt::format("{}", fmt::join(changed, " "))) {
      const ModelOptions options = parse_spec<ModelOptions>(narrow_model, "model", changed).spec;
      const Outcome whole = outcome_of(options, Precision::float32, 1, 1);
      for (const auto& [parts, threads] : {std::pair(3, 3), {11, 2}})
        BOOST_TEST((outcome_of(options, Precision::float32, parts, threads) == whole));
      const Outcome rounded = outcome_of(options, Precision::bfloat16, 1, 1);
      BOOST_TEST(!(rounded == whole));
      BOOST_TEST(std::abs(rounded.numbers[0] / whole.numbers[0] - 1) < 0.01);
      BOOST_TEST((outcome_of(options, Precision::bfloat16, 11, 2) == rounded));
    }
}

// A tied table is used for lookups and products, so all of its rows change.
BOOST_AUTO_TEST_CASE(all_rows_of_a_tied_table_move) {
  for (const char* tied : {"target", "all"}) {
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
    const real unknown = table->value().data[kUnknown * 128];  // does not occur
    setting.step({});
    BOOST_TEST(table->value().data[kUnknown * 128] != unknown);
  }
}

BOOST_AUTO_TEST_CASE(clipping_bounds_the_step) {
  Setting setting;
  const double clip =
      1e-3;  // sgd with learning rate 0.1: the parameters move by exactly 0.1 * clip
  const std::vector<real> before = setting.values();
  BOOST_TEST(setting.step({.clip_norm = clip}).gradient_norm > clip);
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
  const std::vector<TrainingStep::Parts> batches = {setting.batch(2)};
  const StepResult result = setting.step({.clip_norm = 1});
  BOOST_TEST((!std::isfinite(result.nll) || !std::isfinite(result.gradient_norm)));
  const std::vector<real> after = setting.values();
  BOOST_TEST(std::memcmp(before.data(), after.data(), before.size() * sizeof(real)) == 0);
  BOOST_TEST(!TrainingStep::bad_examples(*setting.model, batches).empty());
}

BOOST_AUTO_TEST_CASE(more_steps_lower_the_loss) {
  Setting setting;
  setting.optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = "adam"});
  Workers workers(2);
  TrainingStep step(*setting.model, *setting.optimizer, {.clip_norm = 1}, workers);
  const std::vector<TrainingStep::Parts> batch = {setting.batch(2)};
  const double first = step.run(batch, 1).nll;
  double last = 0;
  for (Index update = 2; update <= 25; ++update) last = step.run(batch, update).nll;
  BOOST_TEST(last < 0.8 * first);
}

// State that is updated without gradients depends on the batch, not on the number of threads, and the
// optimiser does not change it.
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
    TrainingStep step(*setting.model, *setting.optimizer, {.seed = 7}, workers);
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

// Returns the parameters after three updates with groups, on `count` ranks with `threads` threads, followed by the
// optimiser's buffers.
std::vector<std::string> trained_by(int count,
                                    int threads,
                                    Index groups,
                                    const std::string& optimizer) {
  std::vector<std::string> found;
  test::ThreadRanks::run(count, [&](Ranks& ranks) {
    Setting setting;
    setting.optimizer = make_plugin<OptimizerKind>(Choice{.kind = "optimizer", .type = optimizer});
    Workers workers(threads);
    TrainingStep step(
        *setting.model, *setting.optimizer, {.seed = 3, .groups = groups}, workers, ranks);
    std::string results;
    for (Index update = 1; update <= 3; ++update) {
      // The last batch has fewer sentences than groups.
      std::vector<Index> batch(update == 3 ? 3 : 32);
      std::iota(batch.begin(), batch.end(), update * 32);
      TrainingStep::Size size{0, std::ssize(batch)};
      for (const Index example : batch)
        size.tokens += Index{setting.data.train.examples.row(usize(example)).target} + 1;
      const Batches cut = cut_into_parts(setting.data.train, batch, groups);
      std::vector<std::vector<TrainingStep::Parts>> own(usize(groups / count));
      for (Index k = 0; k < std::ssize(own); ++k)
        if (const Index group = ranks.rank() * std::ssize(own) + k; group < std::ssize(cut))
          own[usize(k)].push_back(setting.cut(cut[usize(group)], threads));
      const std::vector<TrainingStep::Group> of_rank(own.begin(), own.end());
      const StepResult result = step.run_groups(of_rank, size, update, 1);
      results += fmt::format(
          "{} {} {} {};", result.nll, result.correct, result.tokens, result.gradient_norm);
    }
    const ParameterStore& store = setting.model->parameters();
    std::vector<std::string> own = {
        results,
        {reinterpret_cast<const char*>(store.values()), usize(store.flat_size()) * sizeof(real)}};
    for (std::size_t k = 0; k < setting.optimizer->state().size(); ++k) {
      own.push_back(step.state(k));
      std::vector<real> numbers(own.back().size() / sizeof(real));
      std::ranges::copy(own.back(), reinterpret_cast<char*>(numbers.data()));
      step.set_state(k, numbers);
      if (step.state(k) != own.back()) throw BugError("the state is not what was set");
    }
    if (own[1] != broadcast(ranks, own[1])) throw BugError("ranks have different parameters");
    if (ranks.first()) found = own;
  });
  return found;
}

BOOST_AUTO_TEST_CASE(ranks_and_threads_change_no_bits) {
  for (const std::string optimizer : {"sgd", "adam"})
    for (const Index groups : {2, 4}) {
      const auto alone = trained_by(1, 1, groups, optimizer);
      BOOST_TEST((alone != trained_by(1, 1, 1, optimizer)));  // another order of additions
      for (int count = 1; count <= groups; count *= 2)
        for (const int threads : {1, 2})
          BOOST_TEST((trained_by(count, threads, groups, optimizer) == alone),
                     optimizer << ", " << groups << " groups, " << count << " ranks, " << threads
                               << " threads");
    }
}

BOOST_AUTO_TEST_SUITE_END()
