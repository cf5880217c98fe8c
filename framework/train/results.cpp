#include "framework/train/results.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/data/lengths.hpp"
#include "framework/eval/attention_diagnostics.hpp"
#include "framework/eval/ibm_model1.hpp"

namespace softalign {
namespace {

using Json = nlohmann::json;

// 0 none, 1 possible, 2 sure; [T, S] with </s> on both sides.
std::vector<std::uint8_t> gold_of(const Model& model,
                                  const Example& example,
                                  const AlignmentMatrix& matrix) {
  if (example.links.empty()) return {};
  std::vector<std::uint8_t> gold(static_cast<std::size_t>(matrix.steps * matrix.positions));
  for (const Link& link : model.placed(example.links))
    gold[static_cast<std::size_t>(link.target * matrix.positions + link.source)] =
        link.sure ? 2 : 1;
  return gold;
}

// A teacher-forced matrix of example `i`.
void record_forced(Recorder& recorder,
                   const Model& model,
                   const std::string& module,
                   Index update,
                   std::size_t i,
                   Index head,
                   const Split& split,
                   const Dataset& data,
                   const AlignmentMatrix& matrix) {
  const Example example = split.examples[i];
  recorder.alignment({module,
                      update,
                      static_cast<Index>(i),
                      head,
                      source_words(model, example.source, *data.source),
                      words_of(example.target, *data.target, true),
                      matrix.weights,
                      gold_of(model, example, matrix)});
}

template <class T, class F>
std::vector<T> column(const std::vector<SentenceResult>& sentences, F pick) {
  std::vector<T> values;
  for (const SentenceResult& sentence : sentences) values.push_back(static_cast<T>(pick(sentence)));
  return values;
}

template <std::size_t N>
std::vector<std::int32_t> flatten(const std::vector<SentenceResult>& sentences,
                                  std::array<std::int32_t, N> SentenceResult::*member) {
  std::vector<std::int32_t> values;
  for (const SentenceResult& sentence : sentences)
    values.insert(values.end(), (sentence.*member).begin(), (sentence.*member).end());
  return values;
}

}  // namespace

Buckets buckets_of(const Spec& spec, const Split& split) {
  const LengthBuckets lengths(spec.evaluate.lengths);
  Buckets buckets;
  for (Index b = 0; b < lengths.count(); ++b) buckets.labels.push_back(lengths.label(b));
  for (const ExampleRow& row : split.examples.rows())
    buckets.of_sentence.push_back(lengths.bucket_of(row.source));
  return buckets;
}

std::vector<std::string> words_of(std::span<const Token> ids,
                                  const Vocabulary& vocabulary,
                                  bool end) {
  std::vector<std::string> words;
  for (Token id : ids) words.push_back(vocabulary.symbol(id));
  if (end) words.push_back(vocabulary.symbol(kEnd));
  return words;
}

std::vector<std::string> source_words(const Model& model,
                                      std::span<const Token> source,
                                      const Vocabulary& vocabulary) {
  const Index symbols = std::ssize(source) + 1, positions = model.encoder().positions(symbols);
  if (positions == symbols) return words_of(source, vocabulary, true);
  std::vector<std::string> words;
  for (Index k = 0; k < positions; ++k) words.push_back(fmt::format("#{}", k));
  return words;
}

void record_alignments(Recorder& recorder,
                       const Model& model,
                       const std::string& module,
                       Index update,
                       const Split& split,
                       const Dataset& data,
                       const std::vector<AlignmentMatrix>& matrices) {
  for (std::size_t i = 0; i < matrices.size(); ++i)
    record_forced(recorder, model, module, update, i, 0, split, data, matrices[i]);
}

void record_heads(Recorder& recorder,
                  const Model& model,
                  const std::string& module,
                  Index update,
                  const Split& split,
                  const Dataset& data,
                  const EvaluatedSplit& result) {
  for (std::size_t i = 0; i < result.forced_heads.size(); ++i)
    for (const HeadMatrix& one : result.forced_heads[i])
      record_forced(recorder,
                    model,
                    fmt::format("{}_layer{}", module, one.layer + 1),
                    update,
                    i,
                    one.head,
                    split,
                    data,
                    one.matrix);
}

void record_searched_alignments(Recorder& recorder,
                                const Model& model,
                                const std::string& module,
                                Index update,
                                const Split& split,
                                const Dataset& data,
                                const EvaluatedSplit& result) {
  for (std::size_t i = 0; i < result.searched.size(); ++i) {
    const auto& tokens = result.sentences[i].hypothesis;
    const bool finished = result.searched[i].steps > std::ssize(tokens);
    recorder.alignment({module,
                        update,
                        static_cast<Index>(i),
                        0,
                        source_words(model, split.examples[i].source, *data.source),
                        words_of(tokens, *data.target, finished),
                        result.searched[i].weights,
                        {}});
  }
}

MetricTable record_test(Recorder& recorder,
                        const Spec& spec,
                        const Dataset& data,
                        const EvaluatedSplit& result,
                        Index update) {
  const auto& all = result.sentences;
  const Dimension sentence{"sentence", std::ssize(all)};
  const auto put = [&](const char* name, Values values, const char* text) {
    recorder.array("test", name, {sentence}, std::move(values), Json{{"long_name", text}}.dump());
  };
  put("source_length",
      column<std::int32_t>(all, [](auto& s) { return s.source_length; }),
      "source tokens without </s>");
  put("nll",
      column<double>(all, [](auto& s) { return s.nll; }),
      "teacher-forced negative log-likelihood, nats");
  put("target_tokens",
      column<std::int32_t>(all, [](auto& s) { return s.teacher_forced.total; }),
      "target tokens with </s>");
  put("correct_tokens",
      column<std::int32_t>(all, [](auto& s) { return s.teacher_forced.hits; }),
      "teacher-forced hits");
  put("exact",
      column<std::uint8_t>(all, [](auto& s) { return s.exact; }),
      "hypothesis equals reference");
  put("free_running_hits",
      column<std::int32_t>(all, [](auto& s) { return s.free_running.hits; }),
      "positions at which hypothesis and reference agree");
  put("free_running_positions",
      column<std::int32_t>(all, [](auto& s) { return s.free_running.total; }),
      "positions of the longer of both");
  put("pointing_hits",
      column<std::int32_t>(all, [](auto& s) { return s.pointing.hits; }),
      "sure links that attention's argmax hits");
  put("pointing_tokens",
      column<std::int32_t>(all, [](auto& s) { return s.pointing.total; }),
      "target tokens with a sure link");
  put("attention_entropy",
      column<double>(all, [](auto& s) { return s.attention_entropy; }),
      "nats, summed over target steps");
  put("attention_steps",
      column<std::int32_t>(all, [](auto& s) { return s.attention_steps; }),
      "target steps with attention");
  put("model_score",
      column<double>(all, [](auto& s) { return s.model_score; }),
      "what the search ranked by");
  put("hypothesis",
      column<std::string>(all, [](auto& s) { return s.hypothesis_text; }),
      "the search's best");
  put("reference",
      column<std::string>(all, [](auto& s) { return s.reference_text; }),
      "as in the data");
  std::vector<std::string> sources;
  for (const Example example : data.test.examples) sources.emplace_back(example.source_text);
  put("source", sources, "as in the data");
  recorder.array(
      "test",
      "bleu_stats",
      {sentence, {"bleu_stat", 10}},
      flatten(all, &SentenceResult::bleu),
      Json{{"long_name", "hypothesis length, reference length, 4 matches, 4 totals"}}.dump());
  recorder.array(
      "test",
      "chrf_stats",
      {sentence, {"chrf_stat", 18}},
      flatten(all, &SentenceResult::chrf),
      Json{{"long_name", "hypothesis, reference and matching n-grams for n = 1..6"}}.dump());

  MetricTable table = summarize(all, all_metrics(), buckets_of(spec, data.test));
  Json totals{{"selected_update", update}, {"sentences", table.sentences[0]}};
  const Dimension bucket{"bucket", std::ssize(table.rows) - 1};
  recorder.array("test/by_length",
                 "label",
                 {bucket},
                 std::vector<std::string>(table.rows.begin() + 1, table.rows.end()));
  recorder.array("test/by_length",
                 "n",
                 {bucket},
                 std::vector<std::int64_t>(table.sentences.begin() + 1, table.sentences.end()));
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    if (!std::isfinite(table.at(0, m))) continue;  // undefined for this model or task
    Json attributes{{"units", table.units[m]}};
    totals[table.metrics[m]] = table.at(0, m);
    if (!table.signatures[m].empty()) {
      attributes["signature"] = table.signatures[m];
      totals[table.metrics[m] + "_signature"] = table.signatures[m];
    }
    std::vector<double> values;
    for (std::size_t row = 1; row < table.rows.size(); ++row) values.push_back(table.at(row, m));
    recorder.array("test/by_length", table.metrics[m], {bucket}, values, attributes.dump());
  }
  recorder.attributes("test", totals.dump());
  return table;
}

void record_ibm_model1(Recorder& recorder, const Spec& spec, const Dataset& data) {
  if (!data.has_links) return;
  const IbmModel1 model(data.train.examples);
  const Buckets buckets = buckets_of(spec, data.test);
  std::vector<Count> counts(buckets.labels.size());
  Count total;
  std::vector<std::int32_t> hits, tokens;  // [sentences]
  for (std::size_t i = 0; i < data.test.examples.size(); ++i) {
    const Example example = data.test.examples[i];
    const Count count =
        example.links.empty()
            ? Count{}
            : point_count(model.point(example.source, example.target), example.links);
    hits.push_back(static_cast<std::int32_t>(count.hits));
    tokens.push_back(static_cast<std::int32_t>(count.total));
    counts[static_cast<std::size_t>(buckets.of_sentence[i])] += count;
    total += count;
  }
  const Dimension sentence{"sentence", std::ssize(hits)};
  recorder.array("test",
                 "ibm_model1_hits",
                 {sentence},
                 hits,
                 Json{{"long_name", "sure links that IBM Model 1 hits"}}.dump());
  recorder.array("test",
                 "ibm_model1_tokens",
                 {sentence},
                 tokens,
                 Json{{"long_name", "target tokens with a sure link"}}.dump());
  std::vector<double> values;
  for (const Count& count : counts)
    values.push_back(ratio(100 * static_cast<double>(count.hits), count.total));
  recorder.array("test/by_length",
                 "pointing_accuracy_ibm_model1",
                 {{"bucket", std::ssize(values)}},
                 values,
                 Json{{"units", "percent"}}.dump());
  recorder.attributes("test",
                      Json{{"pointing_accuracy_ibm_model1",
                            ratio(100 * static_cast<double>(total.hits), total.total)}}
                          .dump());
}

}  // namespace softalign
