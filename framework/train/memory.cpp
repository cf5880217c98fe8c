#include "framework/train/memory.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/base/workers.hpp"
#include "framework/config/spec.hpp"
#include "framework/config/writer.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "framework/eval/metric.hpp"
#include "framework/ops/cross_entropy.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/check_sizes.hpp"
#include "framework/train/diagnostics.hpp"
#include "framework/train/parameter_memory.hpp"
#include "framework/train/step.hpp"

namespace softalign {
namespace {

constexpr double kNumber = sizeof(real);
// Bytes measured on finished runs: of the program beyond what is counted here (libraries, HDF5, stacks), of
// a symbol of the texts in results, of an update in the journal while the record is built.
constexpr double kProgram = 14e6, kTextBytes = 12, kUpdate = 700;

// Models whose weights are 0 and occupy no memory.
class UntrainedModels {
 public:
  UntrainedModels(const std::vector<const Spec*>& specs, const DataOutline& data) {
    std::vector<const Model*> models;
    for (const Spec* spec : specs) {
      models_.push_back(std::make_unique<Model>(
          spec->model, data.source(), at_least_one_symbol(data.target_symbols)));
      models.push_back(models_.back().get());
      allocate_unlearnt(models_.back()->parameters());
      const View logits = models_.back()->output_layer().bias();
      if (!logits) continue;
      for (Index v = 0; v < logits.size(); ++v)
        logits.data[v] = -static_cast<real>(v);  // decreasing: a search finds the best at once
      logits.data[kEnd] = real(-1e9);            // no output ends before its limit
    }
    scorer_ = std::make_unique<Scorer>(std::move(models));
  }
  const Model& first() const { return *models_.front(); }
  const Scorer& scorer() const { return *scorer_; }

 private:
  std::vector<std::unique_ptr<Model>> models_;
  std::unique_ptr<Scorer> scorer_;
};

// A vocabulary whose symbols are all the same word.
class OneWord final : public Vocabulary {
 public:
  explicit OneWord(Index size) : size_(size) {}
  std::string type() const override { return "symbols"; }
  Index size() const override { return size_; }
  const std::string& symbol(Token) const override { return word_; }
  Token id(std::string_view) const override { return kSpecials; }
  std::vector<std::string> split(std::string_view) const override { return {word_}; }
  std::string join(const std::vector<Token>&) const override { return word_; }
  std::string serialize() const override { return word_; }

 private:
  Index size_;
  std::string word_ = "a";
};

Split equal_sentences(const BatchSize& size, const FrameFormat& frames) {
  return softalign::equal_sentences(size.sentences, size.source, size.target, frames);
}

std::string symbols_key(const DataOutline& data) {
  return fmt::format("{} {} {} ", data.source_symbols, data.frames.size, data.target_symbols);
}

// Returns the bytes of the logits of one thread that computes losses.
double bytes_of_logits(const DataOutline& data) {
  return kNumber * static_cast<double>(kLogitRows * data.target_symbols);
}

Index length_of(const DataOutline::Lengths& side) { return std::max<Index>(1, side.longest) + 1; }

}  // namespace

double MemoryEstimate::bytes() const {
  double sum = 0, largest = 0;
  for (const MemoryPart& part : parts) {
    if (part.in_turn)
      largest = std::max(largest, part.bytes);
    else
      sum += part.bytes;
  }
  return sum + largest;
}

// Skips the first part, the program, which no option makes smaller.
const MemoryPart& MemoryEstimate::largest() const {
  return *std::ranges::max_element(parts.begin() + 1, parts.end(), {}, &MemoryPart::bytes);
}

MemoryMeter::MemoryMeter(double most, double exact)
    : most_(most), held_(resident_bytes()), batches_(exact) {}

// Returns the bytes of all threads' tapes, of the output layer's rows, and of the shared packs of weights.
double MemoryMeter::training(const Spec& spec, const DataOutline& data, int threads) {
  const TrainOptions& train = spec.train;
  const UntrainedModels models({&spec}, data);
  const Model& model = models.first();
  const Objective objective = objective_at(train, 1, 0);
  const BatchMeter::Measure step = [&](const BatchSize& size) -> BatchBytes {
    const Split split = equal_sentences(size, data.frames);
    std::vector<Index> all;
    for (Index i = 0; i < size.sentences; ++i) all.push_back(i);
    BatchParts parts = model.batch_parts();
    parts.links |= train.guided_alignment.has_value();
    Batch batch = make_batch(split, all, parts);
    model.place_links(batch);
    const ProductPrecision precision(step_options(train, 0).precision);
    WeightPacks packs;
    PartOfBatch part(packs);
    Arena output;
    Workers alone(1);
    part.forward(model, batch, 1, 1, objective);
    const auto gradient = [](const Parameter& parameter) {  // products do not change it
      return parameter.trained ? parameter.value().data : nullptr;
    };
    model.output_layer().loss({}, objective, gradient, alone, output);
    const auto shared = static_cast<double>(output.peak());  // the packs of its weights
    model.output_layer().loss({&part.rows(), 1}, objective, gradient, alone, output);
    part.backward(model, objective);
    BatchBytes bytes{};
    bytes[kTape] = static_cast<double>(part.tape().peak_bytes());
    bytes[kFound] = static_cast<double>(output.peak()) - shared;
    bytes[kPacks] = static_cast<double>(packs.peak_bytes()) + shared;
    return bytes;
  };
  TrainOptions of_parts = train;  // the other options do not affect the memory of a part
  of_parts.optimizer = TrainOptions().optimizer;
  of_parts.batch = {};
  of_parts.epochs = 1;
  of_parts.max_updates.reset();
  const std::string key =
      "train " + symbols_key(data) + canonical_json(spec.model) + canonical_json(of_parts);
  const Index height = data.frames.height;
  const auto& [source, target] = std::pair(data.train.source, data.train.target);
  const Index pairs = most_pairs(train.batch, std::max(length_of(source), length_of(target))),
              examples = data.train.examples > 0 ? data.train.examples : pairs,
              largest = std::min(examples, pairs), parts = std::min<Index>(largest, threads),
              rows = (largest + parts - 1) / parts,
              rest = train.batch.tokens ? 1 : examples % pairs;
  // The fewer rows a product has, the more weights are packed.
  const BatchSize least{
      std::max<Index>(1, rest > 0 ? rest / parts : rows), source.shortest + 1, target.shortest + 1};
  const BatchSize longest{rows, length_of(source), length_of(target)};
  const BatchBytes most = batches_.at(key, longest, height, step);
  return static_cast<double>(parts) * (most[kTape] + most[kFound]) +
         batches_.at(key, least, height, step)[kPacks];
}

MemoryMeter::Evaluation MemoryMeter::evaluation(const std::vector<const Spec*>& specs,
                                                const DataOutline& data,
                                                const EvaluationLoad& load,
                                                int threads) {
  const UntrainedModels models(specs, data);
  const OneWord words(at_least_one_symbol(data.target_symbols));
  const auto measure = [&](const Search* with, const BatchSize& size) -> BatchBytes {
    EvaluationRequest request;
    request.search = with;
    request.batch = request.keep = size.sentences;
    request.heads = load.heads;
    request.self_attention = load.self_attention && (with == nullptr) == load.split.references;
    request.decoder_self_attention = load.decoder_self_attention && with == nullptr;
    Workers workers(1);
    const EvaluatedSplit result =
        evaluate(models.scorer(), equal_sentences(size, data.frames), words, request, workers);
    return {result.tape_bytes, result.found_bytes, result.pack_bytes, result.kept_bytes()};
  };
  const BatchMeter::Measure forced = [&](const BatchSize& size) { return measure(nullptr, size); };
  std::string key = symbols_key(data) + (load.heads ? "heads " : "") +
                    (load.self_attention ? "self_attention " : "") +
                    (load.decoder_self_attention ? "decoder_self_attention " : "");
  for (const Spec* spec : specs) key += canonical_json(spec->model);

  const Index height = data.frames.height;
  const DataOutline::SplitOutline& split = load.split;
  const Index examples = split.examples > 0 ? split.examples : std::max(load.batch, load.keep),
              rows = std::min(load.batch, examples);
  const double tapes = std::min<double>(
      threads, std::ceil(static_cast<double>(examples) / static_cast<double>(load.batch)));
  const double kept = static_cast<double>(std::min(load.keep, examples));
  const BatchSize longest{rows, length_of(split.source), length_of(split.target)};
  const auto typical = [](const DataOutline::Lengths& side) {
    return static_cast<Index>(std::sqrt(side.square)) + 1;
  };
  const BatchSize one{1, typical(split.source), typical(split.target)};
  BatchBytes most{};
  double of_one = 0;
  std::string by_search;
  if (split.references) {
    most = batches_.at("forced " + key, longest, height, forced);
    if (kept > 0) of_one += batches_.at("forced " + key, one, height, forced)[kKept];
  }
  if (load.search != nullptr) {  // one sentence at a time: its hypotheses are the rows
    EvaluateOptions only;
    only.search = *load.search;
    const std::string yaml = resolved_yaml(only);
    const auto search_of = [&](const std::vector<std::string>& changes) {
      return make_search(parse_spec<EvaluateOptions>(yaml, "search", changes).spec.search,
                         *specs.front());
    };
    const auto whole = search_of({});
    if (whole->most() > 1) by_search = whole->most_option();
    const BatchMeter::Measure searched = [&](const BatchSize& size) {
      const auto part = search_of(whole->most_option().empty()
                                      ? std::vector<std::string>{}
                                      : std::vector<std::string>{fmt::format(
                                            "search.{}={}", whole->most_option(), size.sentences)});
      return measure(part.get(), {1, size.source, 0});
    };
    const DataOutline of_task = make_plugin<TaskKind>(specs.front()->task)->outline();
    key = fmt::format("searched {} {}{}", of_task.target_length, yaml, key);
    const BatchBytes of_longest =
        batches_.at(key, {whole->most(), longest.source, 1}, height, searched);
    const auto count = static_cast<double>(rows);
    most[kTape] = std::max(most[kTape], count * of_longest[kTape]);
    most[kFound] += count * of_longest[kFound];
    most[kPacks] = std::max(most[kPacks], of_longest[kPacks]);
    if (kept > 0)
      of_one += batches_.at(key, {whole->most(), one.source, 1}, height, searched)[kKept];
  }
  const double sentences =
                   static_cast<double>(examples) *
                   (static_cast<double>(count_layout(specs.front()->evaluate.measured())->width()) *
                        sizeof(double) +
                    sizeof(Decoded) + kTextBytes * split.target.mean),
               batches = tapes * (most[kTape] + most[kFound] + most[kPacks]),
               result = sentences + kept * of_one;
  std::string grows_with = "evaluate.batch";
  if (rows == 1) grows_with = by_search.empty() ? "task" : "evaluate.search." + by_search;
  if (result > batches) grows_with = kept * of_one > sentences ? "record" : "task";
  return {batches + result, kept * of_one, result, grows_with};
}

// Estimates the diagnostics: one sentence at a time on each thread's tape, and their own memory.
std::vector<MemoryPart> MemoryMeter::diagnostics(const Spec& spec,
                                                 const DataOutline& data,
                                                 int threads) {
  std::vector<MemoryPart> parts;
  if (!spec.diagnostics || !spec.diagnostics->any()) return parts;
  const UntrainedModels models({&spec}, data);
  for (const Look& look : looks_of(*spec.diagnostics)) {
    const auto& split = look.split == "train" ? data.train
                        : look.split == "dev" ? data.dev
                                              : data.test;
    DataOutline of_one = data;
    of_one.train = split;
    of_one.train.examples = threads;
    Spec one_by_one = spec;
    one_by_one.train.batch = {};
    one_by_one.train.batch.sentences = threads;
    parts.push_back({fmt::format("diagnostic {} of {}", look.name, look.split),
                     look.diagnostic->bytes(models.first(), split, threads) +
                         training(one_by_one, of_one, threads),
                     "diagnostics." + look.name,
                     true});
  }
  return parts;
}

MemoryEstimate MemoryMeter::of_evaluation(const std::vector<const Spec*>& specs,
                                          const DataOutline& data,
                                          const EvaluationLoad& load,
                                          int threads) {
  const Evaluation found = evaluation(specs, data, load, threads);
  constexpr std::string_view kBlock = "evaluate.";  // commands name these options without it
  return {{{"the program and its models", held_, ""},
           {"data", bytes_of_examples(data), "task"},
           {"evaluation",
            found.bytes + threads * bytes_of_logits(data),
            found.key.starts_with(kBlock) ? found.key.substr(kBlock.size()) : found.key}}};
}

MemoryEstimate MemoryMeter::of_run(const Spec& spec,
                                   const DataOutline& outline,
                                   int threads,
                                   int ranks) {
  const DataOutline data = assumed(outline);
  const Model model(spec.model, data.source(), at_least_one_symbol(data.target_symbols));
  const ParameterBytes parameters = parameters_of(
      model, most_pairs(spec.train.batch, typical_length(data.train)) * typical_length(data.train));
  const double average = copies_of_average(spec), optimizer = copies_of_optimizer(spec.train),
               copies = 2 + optimizer + average;
  MemoryEstimate estimate;
  estimate.known = outline.measured();
  const auto add =
      [&](const char* what, double bytes, const std::string& key, bool in_turn = false) {
        estimate.parts.push_back({what, bytes, key, in_turn});
      };
  static const double program = held_;  // memory that was used for earlier specs is reused
  add("the program", program + kProgram, "");
  add("data",
      bytes_of_vocabularies(data) + bytes_of_examples(data) +
          bytes_of_plan(data.train.examples, data.train.drawn, spec.train.batch),
      "task");
  add("parameters, and the best ones", 2 * parameters.all, "model");
  add("gradients",
      parameters.dense * (1 + sums_of_groups(spec.train, ranks)) +
          parameters.tables * (spec.train.groups ? 3 : 1),
      "model");
  add("optimiser and averages",
      (optimizer / ranks + average) * parameters.all,
      average > 1 ? "train.average" : "model");
  add("a checkpoint while it is written",
      2 * copies * parameters.all,
      average > 1 ? "train.average" : "model",
      true);
  if (estimate.bytes() > most_) return estimate;
  Spec of_group = spec;
  const Index groups = spec.train.groups.value_or(1);
  BatchOptions& batch = of_group.train.batch;
  batch.sentences = std::max<Index>(1, batch.sentences / groups);
  if (batch.tokens) batch.tokens = std::max<Index>(1, *batch.tokens / groups);
  add(threads == 1 ? "activations" : "activations of all threads",
      training(of_group, data, threads) + threads * bytes_of_logits(data),
      spec.train.batch.tokens ? "train.batch.tokens" : "train.batch.sentences");
  const EvaluateOptions& how = spec.evaluate;
  const Choice* const dev_search = how.search_dev ? &how.dev_search : nullptr;
  const Evaluation dev = evaluation({&spec},
                                    data,
                                    {data.dev, dev_search, how.batch, spec.record.snapshots},
                                    threads),
                   test = evaluation({&spec},
                                     data,
                                     {data.test,
                                      &how.search,
                                      how.batch,
                                      spec.record.alignments,
                                      true,
                                      spec.record.self_attention.value_or(false),
                                      spec.record.decoder_self_attention.value_or(false)},
                                     threads);
  double baseline = 0;
  if (how.wants_ibm_model1() && data.test.links) {
    const auto pairs = static_cast<double>(data.train.examples);
    baseline = IbmModel1::bytes(cells_of(data));
    add("baseline ibm_model1",
        baseline + IbmModel1::bytes_of_training(
                       pairs, pairs * data.train.source.mean, pairs * data.train.target.mean),
        "evaluate.baselines",
        true);
  }
  add("evaluation of dev", dev.bytes + (spec.train.average ? parameters.all : 0), dev.key, true);
  add("evaluation of test",
      baseline + test.bytes,
      baseline > test.bytes ? "evaluate.baselines" : test.key,
      true);
  for (MemoryPart& part : diagnostics(spec, data, threads)) {
    part.bytes += test.result + baseline;
    estimate.parts.push_back(std::move(part));
  }
  // The record read from the journal, its HDF5 form, and the bytes being written.
  add("the record while it is built",
      3 * (parameters.all + test.kept + dev_evaluations_of(spec, data.train) * dev.kept +
           bytes_of_names(data)) +
          kUpdate * updates_of(spec.train, data.train),
      test.kept + dev.kept > parameters.all ? "record" : "model",
      true);
  return estimate;
}

}  // namespace softalign
