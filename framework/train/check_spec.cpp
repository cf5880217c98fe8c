#include "framework/train/load_spec.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "framework/config/fields.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/metric_conformance.hpp"
#include "framework/eval/search.hpp"
#include "framework/eval/text_metrics.hpp"
#include "framework/train/diagnostics.hpp"
#include "framework/train/optimizer.hpp"

namespace softalign {
namespace {

// A dev metric that controls training or the comparison of runs.
struct Watched {
  std::string option;  // "train.early_stopping.metric"
  std::string metric;  // "dev/loss"
};

// compared: the metric that runs are compared by; may be empty.
std::vector<Watched> watched_by(const TrainOptions& train,
                                const std::string& compared,
                                Checks& checks) {
  std::vector<Watched> all;
  if (train.early_stopping)
    all.push_back({"train.early_stopping.metric", train.early_stopping->metric});
  if (train.average && train.average->type == "best")
    all.push_back({"train.average.metric", train.average->metric});
  checks.pass([&] {
    if (!train.schedule) return;
    const std::string metric = make_plugin<ScheduleKind>(*train.schedule)->watches();
    if (!metric.empty()) all.push_back({"train.schedule.metric", metric});
  });
  if (!compared.empty()) all.push_back({"metric", compared});
  return all;
}

// Throws SpecError if a watched metric is undefined on the dev sentences. reference: the longest dev reference.
void check_watched(const Spec& spec,
                   const DataOutline& data,
                   const Model& model,
                   const std::string& reference,
                   const Watched& watched) {
  const WatchedMetric metric(watched.option, watched.metric);
  if (!data.dev.references)
    throw SpecError("{}: the dev sentences have no references, so there is nothing to watch",
                    watched.option.substr(0, watched.option.rfind(".metric")));
  // A sentence as this spec evaluates it: one word, decoded correctly and attended to.
  const std::vector<Token> target = {kSpecials};
  const std::vector<Link> links = {{0, 0, true}};
  const TeacherForced forced{0, {kSpecials, kEnd}, {kSpecials, kEnd}, {2, 1, {1, 1}}, {}, {}};
  const Decoded decoded{target, reference, target};
  EvaluatedSentence sentence{{target, target, {}, reference, reference}, &forced};
  sentence.of_numbers = true;
  if (spec.evaluate.search_dev) sentence.decoded = &decoded;
  if (model.aligns()) sentence.attention = &forced.attention;
  if (data.dev.links) sentence.links = links;
  const std::vector<NamedMetric> measured = spec.evaluate.measured();
  CountTable counts(count_layout(measured), 1);
  counts.count(0, sentence);
  metric.value(summarize(counts, measured));
}

std::string longest_reference(const Split& split) {
  std::string longest;
  std::size_t most = 0;  // words
  for (const Example example : split.examples)
    if (const std::size_t words = unicode_words(example.target_text).size(); words > most) {
      most = words;
      longest = example.target_text;
    }
  return longest;
}

// Throws SpecError if the encoder or the options of evaluation do not suit the task's sources.
void check_source(const Spec& spec, const DataOutline& data, const Encoder& reader) {
  const FrameFormat wanted = reader.frames(), &frames = data.frames;
  const std::string &encoder = spec.model.encoder.type, &task = spec.task.type;
  if (frames && spec.evaluate.length_unit.value_or("") == "words")
    throw SpecError(
        "evaluate.length_unit: the sources of task '{}' are frames, which have no words; remove it",
        task);
  if (frames && spec.evaluate.wants_ibm_model1())
    throw SpecError(
        "evaluate.baselines: ibm_model1 counts words, but the sources of task '{}' are frames; "
        "remove it",
        task);
  if (reader.reads() != Encoder::Reads::frames) return;
  if (!frames)
    throw SpecError(
        "model.encoder: encoder '{}' reads frames, but the sources of task '{}' are symbols; "
        "choose another encoder, or a task such as image_captions",
        encoder,
        task);
  if (wanted.height > 0 && wanted.height != frames.height)
    throw SpecError(
        "model.encoder.height: encoder '{}' reads images of height {}, but those of task '{}' have "
        "{}; set model.encoder.height={}",
        encoder,
        wanted.height,
        task,
        frames.height,
        frames.height);
  if (wanted.most > 0 && frames.most > 0 && wanted.most != frames.most)
    throw SpecError(
        "model.encoder.levels: encoder '{}' reads {} grey levels, but the images of task '{}' have "
        "{}; set model.encoder.levels={}",
        encoder,
        wanted.most + 1,
        task,
        frames.most + 1,
        frames.most + 1);
}

// Checks that the data has the vocabularies and links that the model needs.
void check_model(const Spec& spec, const DataOutline& data, const Model& model) {
  if (spec.model.tied_embeddings == "all" && !data.one_vocabulary)
    throw SpecError(
        "model.tied_embeddings: all needs one vocabulary for both sides, but those of task '{}' "
        "differ; use target, or for parallel_text set task.vocabulary.shared=true",
        spec.task.type);
  if (!model.reads_links()) return;
  for (const auto& [name, split] :
       {std::pair("train", data.train), {"dev", data.dev}, {"test", data.test}})
    if (!split.links)
      throw SpecError(
          "model.attention: attention '{}' reads gold links of every sentence, but the {} "
          "sentences of task '{}' have none; choose another attention",
          spec.model.attention.type,
          name,
          spec.task.type);
}

void check_record(const Spec& spec, const Model& model) {
  if (spec.record.self_attention.value_or(false) && !model.encoder().attends())
    throw SpecError(
        "record.self_attention: encoder '{}' has no self-attention; remove it, or choose an "
        "encoder such as self_attention",
        spec.model.encoder.type);
  if (spec.record.decoder_self_attention.value_or(false) && !model.decoder_attends())
    throw SpecError(
        "record.decoder_self_attention: decoder '{}' has no self-attention; remove it, or choose a "
        "decoder such as transformer",
        spec.model.decoder.type);
}

// Checks that the model supports words in place of <unk>.
void check_unknown_words(const Spec& spec, const DataOutline& data, const Model& model) {
  const UnknownWordsOptions& options = *spec.evaluate.unknown_words;
  if (options.forbids()) return;
  constexpr std::string_view kOption = "evaluate.unknown_words.by";
  if (!model.aligns())
    throw SpecError(
        "{}: {} reads attention weights, but the model has none; use forbid, or remove it",
        kOption,
        options.by);
  constexpr Index kLength = 1000;  // any length that an encoder would shorten
  if (data.frames || model.encoder().positions(kLength) != kLength)
    throw SpecError(
        "{}: {} puts source words into the output, but the annotations of encoder '{}' "
        "are not source symbols; use forbid, or remove it",
        kOption,
        options.by,
        spec.model.encoder.type);
}

// Checks that the data has what the training losses need.
void check_training_data(const TrainOptions& train, const DataOutline& data) {
  if (train.guided_alignment && !data.train.links)
    throw SpecError(
        "train.guided_alignment: the training sentences have no word links; set "
        "task.train.alignment, or remove it");
}

// Checks conditions on values beyond their limits.
void check_values(const Spec& spec, Checks& checks) {
  checks.pass([&] {
    if (!can_name_folder(spec.name))
      throw SpecError("name: '{}' cannot name a folder; use at most 100 letters, digits and . _ -",
                      printable(spec.name));
  });
  checks.pass([&] {
    if (spec.train.average) WatchedMetric("train.average.metric", spec.train.average->metric);
  });
  checks.pass([&] {
    try {
      LengthBuckets{spec.evaluate.lengths};
    } catch (const SpecError& error) {
      throw SpecError("evaluate.lengths: {}", error);
    }
  });
}

// Checks that the data has what model and training need. reference: the longest dev reference.
void check_needs(const Spec& spec,
                 const DataOutline& data,
                 const Model& model,
                 const std::string& reference,
                 const std::vector<Watched>& watched,
                 Checks& checks) {
  checks.pass([&] { check_model(spec, data, model); });
  checks.pass([&] { check_training_data(spec.train, data); });
  for (const Watched& one : watched)
    checks.pass([&] { check_watched(spec, data, model, reference, one); });
}

// Calls `take` with the rows in order; few of them are resident at a time.
void each_row(const Split& split, const std::function<void(const ExampleRow&)>& take) {
  constexpr std::size_t kResident = 1 << 16;  // rows
  std::size_t taken = 0;
  for (const ExampleRow& row : split.examples.rows()) {
    take(row);
    if (++taken % kResident == 0) split.examples.release();
  }
}

bool has_links(const Split& split) {
  bool found = split.examples.empty();
  each_row(split, [&](const ExampleRow& row) { found |= row.links > 0; });
  return found;
}

DataOutline::Lengths lengths_of(const Split& split, std::uint32_t ExampleRow::*side) {
  DataOutline::Lengths lengths;
  const auto count = static_cast<double>(std::max<std::size_t>(1, split.examples.size()));
  bool first = true;
  each_row(split, [&](const ExampleRow& row) {
    const Index length = row.*side;
    if (std::exchange(first, false) || length < lengths.shortest) lengths.shortest = length;
    lengths.longest = std::max(lengths.longest, length);
    lengths.mean += static_cast<double>(length) / count;
    lengths.square += static_cast<double>(length * length) / count;
  });
  return lengths;
}

}  // namespace

DataOutline::SplitOutline outline_of(const Split& split) {
  const DataOutline::SplitOutline outline{.references = has_references(split),
                                          .links = has_links(split),
                                          .examples = std::ssize(split.examples),
                                          .drawn = examples_per_epoch(split),
                                          .source = lengths_of(split, &ExampleRow::source),
                                          .target = lengths_of(split, &ExampleRow::target)};
  split.examples.release();
  return outline;
}

DataOutline outline_of(const Dataset& data) {
  return {.source_symbols = data.source ? data.source->size() : 0,
          .target_symbols = data.target->size(),
          .frames = data.frames(),
          .one_vocabulary = data.source == data.target ||
                            (data.source && data.source->serialize() == data.target->serialize()),
          .train = outline_of(data.train),
          .dev = outline_of(data.dev),
          .test = outline_of(data.test),
          .held = data.train.examples.held()};
}

DataOutline outline_of(const Dataset& data, const Spec& spec) {
  DataOutline outline = outline_of(data);
  if (spec.evaluate.wants_ibm_model1() && data.has_links)
    outline.cells = IbmModel1::cells(data.train.examples);
  return outline;
}

void check_options(const ResolvedSpec<Spec>& resolved, const std::function<void()>& check) {
  Checks checks(resolved.origins);
  checks.pass(check);
  checks.finish();
}

void check_spec(const ResolvedSpec<Spec>& resolved, const std::string& compared) {
  const Spec& spec = resolved.spec;
  Checks checks(resolved.origins);
  check_values(spec, checks);
  // Constructors of plugins refuse options and combinations that they do not support.
  DataOutline data;
  const bool has_task = checks.pass([&] { data = make_plugin<TaskKind>(spec.task)->outline(); });
  std::optional<Model> model;
  checks.pass([&] {
    model.emplace(spec.model, data.source(), std::max<Index>(data.target_symbols, kSpecials + 1));
  });
  const std::vector<Watched> watched = watched_by(spec.train, compared, checks);
  if (model && has_task) {
    checks.pass([&] { check_source(spec, data, model->encoder()); });
    check_needs(spec, data, *model, "1 2 3 4", watched, checks);
  }
  if (model) checks.pass([&] { check_training(spec.train, *model); });
  if (model) checks.pass([&] { check_record(spec, *model); });
  if (model && has_task && spec.evaluate.unknown_words)
    checks.pass([&] { check_unknown_words(spec, data, *model); });
  if (model && spec.diagnostics) checks.pass([&] { check_diagnostics(*spec.diagnostics, *model); });
  checks.pass([&] { make_plugin<OptimizerKind>(spec.train.optimizer); });
  const auto check_one_search = [&](const char* path, const Choice& choice) {
    checks.pass([&] {
      const auto search = make_plugin<SearchKind>(
          choice, static_cast<std::uint64_t>(spec.seed), data.target_length);
      if (model) check_search(*search, *model, path);
      if (spec.evaluate.unknown_words && spec.evaluate.unknown_words->forbids())
        check_demand(*search, Demand::no_unknown, "evaluate.unknown_words.by", choice.type);
    });
  };
  check_one_search("evaluate.search", spec.evaluate.search);
  check_one_search("evaluate.dev_search", spec.evaluate.dev_search);
  checks.finish();
}

void check_metrics() {
  for (const auto& [name, metric] : default_metrics())
    for (const ConformanceResult& law : check_metric(*metric))
      if (!law.passed)
        throw SpecError(
            "metric '{0}' fails a conformance test: {1}: {2}; softalign check metric {0} runs all "
            "of them",
            name,
            law.check,
            law.detail);
}

std::vector<std::string> check_data(const ResolvedSpec<Spec>& resolved,
                                    const Dataset& data,
                                    const Model& model,
                                    bool prunes) {
  const DataOutline outline = outline_of(data);
  Checks checks(resolved.origins);
  const TrainOptions& train = resolved.spec.train;
  check_needs(resolved.spec,
              outline,
              model,
              longest_reference(data.dev),
              watched_by(train, "", checks),
              checks);
  checks.pass([&] { make_unknown_words(resolved.spec.evaluate, data.source.get(), *data.target); });
  checks.pass([&] {
    if (prunes && !outline.dev.references)
      throw SpecError("early termination: the dev sentences have no references");
  });
  checks.finish();
  std::vector<std::string> notes;
  for (const auto& [name, split] : {std::pair("dev", outline.dev), {"test", outline.test}})
    if (!split.references)
      notes.push_back(fmt::format(
          "note: the {} sentences have no references: they are translated but not measured", name));
  return notes;
}

}  // namespace softalign
