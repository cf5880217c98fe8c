#include "framework/train/results.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/types.hpp"
#include "framework/data/lengths.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {
namespace {

// 0 none, 1 possible, 2 sure; [T, S] with </s> on both sides.
std::vector<std::uint8_t> gold_of(const Model& model,
                                  const Example& example,
                                  const AlignmentMatrix& matrix) {
  if (example.links.empty()) return {};
  std::vector<std::uint8_t> gold(usize(matrix.steps * matrix.positions));
  for (const Link& link : model.placed(example.links))
    gold[usize(link.target * matrix.positions + link.source)] = link.sure ? 2 : 1;
  return gold;
}

// A column of all sentences; 0: not measured.
template <class T>
std::vector<T> numbers_of(const CountTable& counts, const CountColumn& column) {
  const Index place = counts.layout().place(column.name, column.width);
  std::vector<T> numbers;
  for (Index i = 0; i < counts.sentences(); ++i)
    for (const double x : counts.row(i).subspan(usize(place), usize(column.width))) {
      if (!std::isnan(x) && !column.holds(x))
        throw BugError("[metric] column '{}' of sentence {} is {}, which its .stored cannot hold",
                       column.name,
                       i,
                       x);
      numbers.push_back(std::isnan(x) ? T{} : static_cast<T>(x));
    }
  return numbers;
}

Values values_of(const CountTable& counts, const CountColumn& column) {
  switch (column.stored) {
    case CountColumn::Stored::int32:
      return numbers_of<std::int32_t>(counts, column);
    case CountColumn::Stored::uint8:
      return numbers_of<std::uint8_t>(counts, column);
    case CountColumn::Stored::float64:
      return numbers_of<double>(counts, column);
  }
  throw BugError("a column of the test's sentences without a type");
}

bool is_measured(const CountTable& counts, const CountColumn& column) {
  const auto place = usize(counts.layout().place(column.name, column.width));
  return counts.sentences() > 0 && !std::isnan(counts.row(0)[place]);
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

void ResultRecorder::forced(const std::string& module,
                            std::size_t sentence,
                            Index head,
                            const AlignmentMatrix& matrix) const {
  const Example example = split_.examples[sentence];
  recorder_.alignment({module,
                       update_,
                       static_cast<Index>(sentence),
                       head,
                       source_words(model_, example.source, *data_.source),
                       words_of(example.target, *data_.target, true),
                       matrix.weights,
                       gold_of(model_, example, matrix)});
}

void ResultRecorder::alignments(const std::string& module, const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.forced.size(); ++i) forced(module, i, 0, result.forced[i]);
}

void ResultRecorder::heads(const std::string& module, const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.forced_heads.size(); ++i)
    for (const HeadMatrix& one : result.forced_heads[i])
      forced(fmt::format("{}_layer{}", module, one.layer + 1), i, one.head, one.matrix);
}

void ResultRecorder::searched_alignments(const std::string& module,
                                         const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.searched.size(); ++i) {
    const auto& tokens = result.decoded[i].tokens;
    const bool finished = result.searched[i].steps > std::ssize(tokens);
    recorder_.alignment({module,
                         update_,
                         static_cast<Index>(i),
                         0,
                         source_words(model_, split_.examples[i].source, *data_.source),
                         words_of(tokens, *data_.target, finished),
                         result.searched[i].weights,
                         {}});
  }
}

void ResultRecorder::sentences(const EvaluatedSplit& result) const {
  const Dimension sentence{"sentence", std::ssize(split_.examples)};
  const auto put = [&](const char* name, Values values, const char* text) {
    recorder_.array("test", name, {sentence}, std::move(values), {{"long_name", text}});
  };
  std::vector<std::int32_t> lengths;
  std::vector<std::string> sources, references, hypotheses;
  std::vector<double> scores;
  for (const Example example : split_.examples) {
    lengths.push_back(static_cast<std::int32_t>(example.source.size()));
    sources.emplace_back(example.source_text);
    references.emplace_back(example.target_text);
  }
  for (const Decoded& one : result.decoded) {
    hypotheses.push_back(one.text);
    scores.push_back(one.score);
  }
  put("source_length", lengths, "source tokens without </s>");
  put("source", sources, "as in the data");
  put("reference", references, "as in the data");
  put("hypothesis", hypotheses, "the search's best");
  put("model_score", scores, "what the search ranked by");
}

void ResultRecorder::counts(const CountTable& counts) const {
  for (const CountColumn& column : counts.layout().columns()) {
    if (column.off == Counted::baseline && !is_measured(counts, column)) continue;  // not asked for
    std::vector<Dimension> dims = {{"sentence", counts.sentences()}};
    if (column.width > 1) dims.push_back({column.part, column.width});
    recorder_.array("test",
                    column.name,
                    dims,
                    values_of(counts, column),
                    {{"long_name", column.long_name}, {"units", column.units}});
  }
}

void ResultRecorder::table(const MetricTable& table) const {
  const std::string group = "test/by_length";
  const Dimension bucket{"bucket", std::ssize(table.rows) - 1};
  recorder_.array(
      group, "label", {bucket}, std::vector<std::string>(table.rows.begin() + 1, table.rows.end()));
  recorder_.array(group,
                  "n",
                  {bucket},
                  std::vector<std::int64_t>(table.sentences.begin() + 1, table.sentences.end()));
  JsonObject totals{{"selected_update", update_}, {"sentences", table.sentences[0]}};
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    if (!std::isfinite(table.at(0, m))) continue;  // undefined for this model or task
    const std::string& name = table.metrics[m];
    totals[name] = table.at(0, m);
    if (!table.facts[m].signature.empty()) totals[name + "_signature"] = table.facts[m].signature;
    std::vector<double> values;
    for (std::size_t row = 1; row < table.rows.size(); ++row) values.push_back(table.at(row, m));
    recorder_.array(group, name, {bucket}, values, attributes_of(table.facts[m]));
  }
  recorder_.attributes("test", totals);
}

MetricTable ResultRecorder::test(const Spec& spec, const EvaluatedSplit& result) const {
  const MetricTable metrics = summarize(result.counts, all_metrics(), buckets_of(spec, split_));
  sentences(result);
  counts(result.counts);
  table(metrics);
  return metrics;
}

}  // namespace softalign
