// Options of training: spec.train, and next to it spec.init and spec.diagnostics. Optional options without a
// value are absent.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/registry.hpp"
#include "framework/data/batches.hpp"
#include "framework/eval/diagnostic.hpp"
#include "framework/train/step.hpp"

namespace softalign {

struct EarlyStoppingOptions {
  std::string metric = "dev/loss";
  Index patience = 5;
  template <class V>
  void describe(V& v) {
    v("metric", metric, "dev metric to watch, \"dev/\" and the name of a metric", qualify_name());
    v("patience",
      patience,
      "dev evaluations without a new best before training stops",
      qualify_name(between(1, kMostEpochs)));
  }
};

struct ScheduleChoice : Choice {
  ScheduleChoice() : Choice{.kind = "schedule", .type = "constant"} {}
};

// Chen et al. 2016: + weight decay^epoch * cross-entropy between the training data's links and the
// weights, for each target symbol that has links.
struct GuidedAlignmentOptions {
  double weight = 1;
  double decay = 1;
  template <class V>
  void describe(V& v) {
    v("weight",
      weight,
      "weight of the links' cross-entropy relative to the symbols'",
      qualify_name(positive()));
    v("decay", decay, "factor on this weight after every epoch", qualify_name(positive_up_to(1)));
  }
};

// Averaged parameters, which are evaluated and tested instead of those of the last update.
struct AverageOptions {
  std::string type = "exponential";
  double decay = 0.999;
  Index epochs = 5;
  std::string metric = "dev/loss";
  std::optional<Index> every = {};
  template <class V>
  void describe(V& v) {
    v("type",
      type,
      "exponential: the moving average of all updates; last: the mean of the last epochs' ends; "
      "best: that of the best epochs, for the test only",
      one_of("exponential", "last", "best"));
    v("decay",
      decay,
      "exponential: share of the old average that remains after an update; at most (1 + u) / (10 + "
      "u) after update u",
      qualify_name(fraction()));
    v("epochs",
      epochs,
      "last, best: number of epochs to average, or with `every` of states",
      between(1, 1000));
    v("metric",
      metric,
      "best: dev metric that ranks epochs, \"dev/\" and the name of a metric",
      qualify_name());
    v("every",
      every,
      "last: average states this many updates apart instead of ends of epochs; null: ends of "
      "epochs",
      between(1, kMostUpdates));
    v.inactive("decay", type != "exponential", "only type exponential reads it");
    v.inactive("epochs", type == "exponential", "only types last and best read it");
    v.inactive("metric", type != "best", "only type best reads it");
    v.inactive("every", every && type != "last", "only type last reads it");
  }
};

// Bengio et al. 2015: the probability that the decoder is fed the true symbol, at update u from 0.
struct ScheduledSamplingOptions {
  std::string type = "inverse_sigmoid";
  double k = 1000;
  double slope = 1e-4;
  double least = 0;
  std::string feed = "sample";
  template <class V>
  void describe(V& v) {
    v("type",
      type,
      "probability of the true symbol at update u: inverse_sigmoid: k / (k + e^(u / k)); "
      "exponential: k^u; linear: k - slope u, but at least `least`",
      one_of("inverse_sigmoid", "exponential", "linear"));
    v("k", k, "see type: at least 1, below 1, at most 1", qualify_name(positive()));
    v("slope", slope, "linear: decrease per update", qualify_name(at_least(0)));
    v("least", least, "linear: smallest probability", qualify_name(between(0, 1)));
    v("feed",
      feed,
      "what the decoder reads otherwise: a symbol drawn from its own last distribution, or the "
      "most probable one",
      qualify_name(one_of("sample", "argmax")));
    v.inactive("slope", type != "linear", "only type linear reads it");
    v.inactive("least", type != "linear", "only type linear reads it");
    v.check("k",
            type == "inverse_sigmoid" ? k >= 1
            : type == "exponential"   ? k < 1
                                      : k <= 1,
            type == "inverse_sigmoid" ? "inverse_sigmoid needs k of at least 1"
            : type == "exponential"   ? "exponential needs k below 1"
                                      : "linear begins with a probability of k, at most 1");
  }
};

struct TrainOptions {
  Choice optimizer{.kind = "optimizer", .type = "adam"};
  std::optional<ScheduleChoice> schedule;
  BatchOptions batch;
  std::optional<Index> accumulate;
  std::optional<Index> groups;
  std::optional<std::string> precision;
  std::optional<std::string> loss;
  std::optional<double> label_smoothing;
  std::optional<double> doubly_stochastic;
  std::optional<double> coverage;
  std::optional<GuidedAlignmentOptions> guided_alignment;
  std::optional<ScheduledSamplingOptions> scheduled_sampling;
  double clip_norm = 1;
  std::optional<std::string> clip_scope;
  Index epochs = 10;
  std::optional<Index> max_updates;
  std::optional<EarlyStoppingOptions> early_stopping;
  std::optional<AverageOptions> average;
  template <class V>
  void describe(V& v) {
    v("optimizer", optimizer, "update rule");
    v("schedule", schedule, "factor on the optimiser's learning rate; null: constant");
    v("batch", batch, "how sentences form batches");
    v("accumulate",
      accumulate,
      "number of batches whose gradients form one update; the last update of an epoch may have "
      "fewer; null: 1",
      between(1, kLargestBatch));
    v("groups",
      groups,
      "number of groups of sentences, a power of two, into which a batch is cut: their gradients "
      "are "
      "added in a binary tree, so that up to as many ranks (--mpi) may share a run; null: 1",
      between(1, kMostGroups));
    const bool tree = std::has_single_bit(static_cast<std::uint64_t>(groups.value_or(1)));
    v.check("groups", tree, "must be a power of two");
    v.check("groups",
            !tree || batch.tokens || batch.sentences % groups.value_or(1) == 0,
            "must divide train.batch.sentences");
    v("precision",
      precision,
      "precision of the operands of matrix products in training; parameters, sums and evaluation "
      "stay float32. bfloat16 is about twice as fast on processors with AVX-512 BF16, and slower "
      "on others, with the same bits; null: float32",
      one_of("float32", "bfloat16"));
    v("loss",
      loss,
      "divisor of the batch's summed loss, which also scales the gradient that clip_norm limits: "
      "token, its target symbols; sentence, its sentences; sum, nothing, as in GroundHog; null: "
      "token",
      one_of("token", "sentence", "sum"));
    v("label_smoothing",
      label_smoothing,
      "share of the target distribution that is spread evenly over all symbols (Szegedy et al. "
      "2016); not in reported losses",
      fraction());
    v("doubly_stochastic",
      doubly_stochastic,
      "lambda of the term lambda sum_i (1 - sum_t weight_ti)^2 per sentence (Xu et al. 2015, "
      "equation 14)",
      positive());
    v("coverage",
      coverage,
      "lambda of the term lambda sum_ti min(weight_ti, sum_t'<t weight_t'i) per sentence, against "
      "attending to a position twice (See et al. 2017, equation 12)",
      positive());
    v("guided_alignment",
      guided_alignment,
      "trains the attention weights on the links of the training data (Chen et al. 2016); null: "
      "no");
    v("scheduled_sampling",
      scheduled_sampling,
      "feeds the decoder its own symbols more and more often (Bengio et al. 2015); null: never");
    v("clip_norm", clip_norm, "largest norm of the whole gradient; 0: no clipping", at_least(0));
    v("clip_scope",
      clip_scope,
      "parameters in this norm: all, or without_embeddings, which are scaled nevertheless (code of "
      "Luong et al. 2015); null: all",
      one_of("all", "without_embeddings"));
    v.inactive("clip_scope", clip_norm == 0, "clip_norm is 0");
    v("epochs", epochs, "passes over the training data", between(1, kMostEpochs));
    v("max_updates", max_updates, "stop after this many updates", between(1, kMostUpdates));
    v("early_stopping", early_stopping, "stop when a dev metric stops improving; null: never");
    v("average", average, "evaluate averaged parameters; null: no");
  }
};

// Returns the objective of the update that follows `updates` others, in epoch `epoch` (from 0).
Objective objective_at(const TrainOptions& options, Index updates, Index epoch);
// Returns whether the minimised objective differs from the reported loss.
bool adds_to_loss(const TrainOptions& options);
StepOptions step_options(const TrainOptions& options, std::uint64_t seed);
// Throws SpecError if the model lacks something that these options need.
void check_training(const TrainOptions& options, const Model& model);

// Initial values other than random numbers, and parameters that are frozen: spec.init.
struct InitOptions {
  InputFile from{.parameters_count = true};
  std::vector<std::string> only;
  InputFile source_embeddings;
  InputFile target_embeddings;
  std::vector<std::string> freeze;
  template <class V>
  void describe(V& v) {
    v("from",
      from,
      "a record or a run's folder, whose final parameters initialise the model (`*` in `only` and "
      "`freeze` matches any characters); the run ID includes their values, not the path",
      qualify_name());
    v("only",
      only,
      "names of the parameters to take, such as encoder.*; empty: all, which must exist",
      qualify_name());
    v.inactive("only", from.path.empty(), "init.from names no record");
    v("source_embeddings",
      source_embeddings,
      "word vectors for source symbols in word2vec's text format: a symbol and its numbers per "
      "line");
    v("target_embeddings", target_embeddings, "word vectors for target symbols");
    v("freeze", freeze, "names of the parameters that are not trained", qualify_name());
  }
};

// The diagnostics of a run with their options: spec.diagnostics. Every registered diagnostic is an option here,
// absent unless given: `diagnostics: {gradient_flow: {}}`.
struct DiagnosticsOptions {
  std::map<std::string, OptionalPlugin> chosen;

  DiagnosticsOptions() {
    for (const PluginEntry* entry : Registry::instance().entries(DiagnosticKind::name))
      chosen[entry->name].fresh = entry->options;
  }
  bool any() const {
    return std::ranges::any_of(chosen,
                               [](const auto& one) { return one.second.options != nullptr; });
  }
  template <class V>
  void describe(V& v) {
    for (auto& [name, plugin] : chosen)
      v(name, plugin, Registry::instance().find(DiagnosticKind::name, name).summary);
  }
};

}  // namespace softalign
