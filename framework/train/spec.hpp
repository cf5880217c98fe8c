// The spec of an experiment, and the name of its run. Each default is defined with its option, here or in the
// options of model, training and plugins.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/search.hpp"
#include "framework/eval/unknown_words.hpp"
#include "framework/seq/model.hpp"
#include "framework/train/train_options.hpp"

namespace softalign {

// The interval of dev evaluations, if they do not take place at the end of each epoch.
struct EvaluateEvery {
  Index updates = 1000;
  template <class V>
  void describe(V& v) {
    v("updates",
      updates,
      "updates from one dev evaluation to the next",
      qualify_name(between(1, kMostUpdates)));
  }
};

struct EvaluateOptions {
  std::optional<EvaluateEvery> every;
  Choice search{.kind = "search", .type = "beam"};
  Choice dev_search{.kind = "search", .type = "greedy"};
  bool search_dev = true;
  std::vector<Index> lengths = {10, 20, 30, 40, 50, 60};
  std::optional<std::string> length_unit;
  std::optional<std::string> row_aligns;
  std::optional<UnknownWordsOptions> unknown_words;
  Index batch = 64;
  std::vector<std::string> baselines;
  std::optional<std::vector<std::string>> metrics;

  std::vector<NamedMetric> measured() const {
    return metrics ? metrics_named(*metrics) : default_metrics();
  }
  bool wants_ibm_model1() const { return std::ranges::count(baselines, "ibm_model1") > 0; }
  RowAligns rows() const { return row_aligns_of(row_aligns.value_or("")); }
  template <class V>
  void describe(V& v) {
    v("every",
      every,
      "evaluate dev after this many updates, and at the end of training, instead of after each "
      "epoch: early stopping, plateau, averages of `last` and `best` follow; null: each epoch");
    v("search", search, "how test sentences are decoded");
    v("dev_search", dev_search, "how dev sentences are decoded at each dev evaluation");
    v("search_dev",
      search_dev,
      "false: dev evaluations do not decode, only teacher-forced metrics");
    v("lengths",
      lengths,
      "longest source length of each bucket but the last",
      between(1, kLongestSentence));
    v("length_unit",
      length_unit,
      "unit of lengths: symbols (with sentencepiece: pieces of words) or words; null: symbols",
      one_of("symbols", "words"));
    v("row_aligns",
      row_aligns,
      "target symbol that a row of attention belongs to: the one predicted with it, or the one "
      "read at its step, the previous one; null: predicted",
      one_of("predicted", "read"));
    v("unknown_words",
      unknown_words,
      "words in place of an <unk> of a search, on dev and test; null: it stays <unk>");
    v("batch",
      batch,
      "sentences decoded together; changes the speed only",
      not_in_run_id(between(1, kLargestBatch)));
    v("baselines",
      baselines,
      "baselines without a network: ibm_model1 (pointing accuracy and AER on gold links)",
      one_of("ibm_model1"));
    v("metrics",
      metrics,
      "metrics to measure, as [loss, {bleu: {tokenize: 13a}}, chrf]; null: every registered metric "
      "with its default options",
      plugins_of(MetricKind::name));
    const auto named = metrics.value_or(std::vector<std::string>());
    v.check("metrics",
            std::set<std::string>(named.begin(), named.end()).size() == named.size(),
            "lists a metric twice");
  }
};

// Returns null if evaluate.unknown_words is null. Throws as the constructor of UnknownWords does.
std::unique_ptr<const UnknownWords> make_unknown_words(const EvaluateOptions& options,
                                                       const Vocabulary* source,
                                                       const Vocabulary& target);

struct Spec;
// Returns a search of the run: its random draws depend on the run's seed, and the task may fix the output length.
std::unique_ptr<Search> make_search(const Choice& search, const Spec& spec);

struct RecordOptions {
  Index alignments = 200;
  std::optional<bool> self_attention;
  std::optional<bool> decoder_self_attention;
  Index snapshots = 8;
  Index checkpoint_every = 1000;
  std::string keep = "last";
  template <class V>
  void describe(V& v) {
    v("alignments",
      alignments,
      "number of test sentences whose alignment matrices are recorded, teacher-forced and of the "
      "search, from the first",
      between(0, kMostSentences));
    v("self_attention",
      self_attention,
      "true: also records the self-attention of these sources in encoders that have it; null: no");
    v("decoder_self_attention",
      decoder_self_attention,
      "true: also records the self-attention of the reference's symbols in decoders that have it; "
      "null: no");
    for (const char* name : {"self_attention", "decoder_self_attention"})
      v.inactive(name, alignments == 0, "record.alignments is 0");
    v("snapshots",
      snapshots,
      "number of dev sentences whose matrices are recorded after every epoch",
      between(0, kMostSentences));
    v("checkpoint_every",
      checkpoint_every,
      "updates between checkpoints, besides one after every epoch",
      not_in_run_id(between(1, kMostUpdates)));
    v("keep",
      keep,
      "checkpoints that are kept when the run is complete, for extending it and for verify "
      "--quick; best: the newest, and that of the best parameters",
      not_in_run_id(one_of("none", "last", "best", "all")));
  }
};

struct Spec {
  std::string name = "experiment";
  Index seed = 1;
  std::string notes;
  std::vector<std::string> tags;
  std::vector<std::string> plugins;
  Choice task{.kind = "task"};
  ModelOptions model;
  std::optional<InitOptions> init;
  TrainOptions train;
  EvaluateOptions evaluate;
  RecordOptions record;
  std::optional<DiagnosticsOptions> diagnostics;

  // Throws SpecError for a study or a sweep.
  static void refuse_other(const Value& root);
  // Returns the paths of the options that change no result; identity.json omits them or has the default.
  static std::vector<std::string> options_outside_run_id();
  template <class V>
  void describe(V& v) {
    v("name", name, "folder of the run under results/; letters, digits and . _ -", not_in_run_id());
    v("seed",
      seed,
      "seed of all random numbers except the sentences of synthetic tasks",
      at_least(0));
    v("notes", notes, "for people", not_in_run_id());
    v("tags", tags, "for people", not_in_run_id());
    v("plugins", plugins, "shared objects with further plugins", not_in_run_id());
    v("task", task, "source of the sentences", required());
    v("model", model, "what is trained");
    v("init", init, "initial parameters instead of random numbers; null: none");
    v("train", train, "how the model is trained");
    v("evaluate", evaluate, "how the model is evaluated");
    v("record", record, "what is recorded besides the metrics");
    v("diagnostics", diagnostics, "measurements inside the model during training; null: none");
    if (diagnostics && !diagnostics->any()) diagnostics.reset();  // an empty block is the same run
  }
};

// The name of a run: the identity of its spec and its data.
struct RunName {
  std::string identity_json;  // canonical; data files are identified by their bytes
  std::string run_id;
};
// run_name throws DataError for files that cannot be read; are_left_out ignores missing files.
enum class MissingFiles { are_refused, are_left_out };
RunName run_name(const Spec& spec, MissingFiles missing = MissingFiles::are_refused);

struct RunPlace {
  RunName name;
  std::filesystem::path folder;  // below `results`
};
RunPlace place_of(const Spec& spec, const std::filesystem::path& results);

}  // namespace softalign
