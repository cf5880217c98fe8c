#include "framework/train/results.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/eval/columns.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/text_metrics.hpp"
#include "framework/train/stored_results.hpp"
#include "framework/train/text_results.hpp"

namespace softalign {
namespace {

// Returns gold links, [T, S] with </s> on both sides: 0 none, 1 possible, 2 sure.
std::vector<std::uint8_t> gold_of(std::span<const Link> links, const AlignmentMatrix& matrix) {
  if (links.empty()) return {};
  std::vector<std::uint8_t> gold(usize(matrix.steps * matrix.positions));
  for (const Link& link : links)
    gold[usize(link.target * matrix.positions + link.source)] = link.sure ? 2 : 1;
  return gold;
}

std::vector<std::string> numbered(Index positions) {
  std::vector<std::string> names;
  for (Index k = 0; k < positions; ++k) names.push_back(fmt::format("#{}", k));
  return names;
}

bool counts_words(const Spec& spec) { return spec.evaluate.length_unit.value_or("") == "words"; }

// Returns source lengths, [sentences], in the unit of the spec.
std::vector<Index> source_lengths(const Spec& spec, const Split& split) {
  std::vector<Index> lengths;
  for (std::size_t i = 0; i < split.examples.size(); ++i)
    lengths.push_back(counts_words(spec) ? std::ssize(split_words(split.examples[i].source_text))
                                         : Index{split.examples.rows()[i].source});
  return lengths;
}

// Returns a column for all sentences.
template <class T>
std::vector<T> numbers_of(const CountTable& counts, const CountColumn& column) {
  const Index place = counts.layout().place(column.name, column.width);
  std::vector<T> numbers;
  for (Index i = 0; i < counts.sentences(); ++i)
    for (const double x : counts.row(i).subspan(usize(place), usize(column.width))) {
      if (!column.holds(x))
        throw BugError("[metric] column '{}' of sentence {} is {}, which its .stored cannot hold",
                       column.name,
                       i,
                       x);
      numbers.push_back(static_cast<T>(x));
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

// Returns the length bucket of every sentence.
Buckets buckets_of(const Spec& spec, const Split& split, const Vocabulary* source) {
  const LengthBuckets lengths(spec.evaluate.lengths);
  Buckets buckets;
  const bool has_pieces = source && source->has_pieces();
  if (counts_words(spec))
    buckets.unit = "words";
  else if (has_pieces)
    buckets.unit = source->type() == "characters" ? "characters" : "pieces";
  for (Index b = 0; b < lengths.count(); ++b) buckets.labels.push_back(lengths.label(b));
  for (const Index length : source_lengths(spec, split))
    buckets.of_sentence.push_back(lengths.bucket_of(length));
  return buckets;
}

}  // namespace

MetricTable metrics_of(const Spec& spec,
                       const Split& split,
                       const Vocabulary* source,
                       const CountTable& counts) {
  MetricTable table = summarize(counts, spec.evaluate.measured(), buckets_of(spec, split, source));
  if (!split.references.empty())
    for (MetricFacts& facts : table.facts)
      facts.signature = with_references(facts.signature, count_references(split.references));
  if (spec.evaluate.rows() == RowAligns::read)
    for (MetricFacts& facts : table.facts)
      if (facts.of_rows) facts.signature = kReadRows;
  return table;
}

std::vector<std::string> symbols_of(const Vocabulary& vocabulary,
                                    std::span<const Token> ids,
                                    Index positions,
                                    std::string_view text) {
  const std::vector<std::string_view> words =
      vocabulary.has_words() ? split_words(text) : std::vector<std::string_view>();
  std::vector<std::string> symbols;
  for (const Token id : ids)
    symbols.push_back(id == kUnknown && words.size() == ids.size()
                          ? std::string(words[symbols.size()])
                          : vocabulary.symbol(id));
  if (std::ssize(symbols) < positions) symbols.push_back(vocabulary.symbol(kEnd));
  return symbols;
}

std::vector<Alignment> recorded_alignments(const Alignment& named,
                                           const AlignedSentence& sentence,
                                           const AlignmentMatrix& matrix) {
  const auto& [source, source_tokens, target, target_tokens, links, source_text, target_text] =
      sentence;
  const bool of_symbols = source && matrix.positions == std::ssize(source_tokens) + 1;
  std::vector<Alignment> recorded(1, named);
  recorded[0].source = of_symbols
                           ? symbols_of(*source, source_tokens, matrix.positions, source_text)
                           : numbered(matrix.positions);
  recorded[0].target = symbols_of(target, target_tokens, matrix.steps, target_text);
  recorded[0].weights = matrix.weights;
  recorded[0].gold = gold_of(links, matrix);
  if (!source) return recorded;
  if (const auto words = word_groups(*source, source_tokens, target, target_tokens, matrix)) {
    AlignmentMatrix joined = join(matrix, *words);
    Alignment& between_words = recorded.emplace_back(named);
    between_words.module = std::string(kBetweenWords) + named.module;
    between_words.source = word_names(*source, source_tokens, words->source);
    between_words.target = word_names(target, target_tokens, words->target);
    between_words.gold = gold_of(join(links, *words), joined);
    between_words.weights = std::move(joined.weights);
  }
  return recorded;
}

void ResultRecorder::record(const Alignment& named,
                            const AlignedSentence& sentence,
                            const AlignmentMatrix& matrix) const {
  for (Alignment& one : recorded_alignments(named, sentence, matrix))
    recorder_.alignment(std::move(one));
}

void ResultRecorder::forced(const std::string& module,
                            std::size_t sentence,
                            Index head,
                            const AlignmentMatrix& matrix) const {
  const Example example = split_.examples[sentence];
  record({module, update_, static_cast<Index>(sentence), head},
         {data_.source.get(),
          example.source,
          *data_.target,
          example.target,
          model_.placed(example.links),
          copied(example.source_text),
          copied(example.target_text)},
         matrix);
}

void ResultRecorder::alignments(const std::string& module, const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.forced.size(); ++i) forced(module, i, 0, result.forced[i]);
}

void ResultRecorder::heads(const std::string& module, const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.forced_heads.size(); ++i)
    for (const HeadMatrix& one : result.forced_heads[i])
      forced(fmt::format("{}_layer{}", module, one.layer + 1), i, one.head, one.matrix);
}

void ResultRecorder::self_attention(const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.self_attention.size(); ++i) {
    const std::span<const Token> source = split_.examples[i].source;
    const std::string_view text = copied(split_.examples[i].source_text);
    for (const HeadMatrix& one : result.self_attention[i])
      record({fmt::format("{}{}", kOfEncoder, one.layer + 1),
              update_,
              static_cast<Index>(i),
              one.head},
             {data_.source.get(), source, *data_.source, source, {}, text, text},
             one.matrix);
  }
}

void ResultRecorder::decoder_self_attention(const EvaluatedSplit& result) const {
  const Vocabulary& vocabulary = *data_.target;
  for (std::size_t i = 0; i < result.decoder_self_attention.size(); ++i) {
    const std::span<const Token> target = split_.examples[i].target;
    const std::string_view text = copied(split_.examples[i].target_text);
    std::vector<std::string> read = symbols_of(vocabulary, target, std::ssize(target), text);
    read.insert(read.begin(), vocabulary.symbol(kBegin));
    for (const HeadMatrix& one : result.decoder_self_attention[i])
      recorder_.alignment({.module = fmt::format("{}{}", kOfDecoder, one.layer + 1),
                           .update = update_,
                           .sentence = static_cast<Index>(i),
                           .head = one.head,
                           .source = read,
                           .target = symbols_of(vocabulary, target, one.matrix.steps, text),
                           .weights = one.matrix.weights});
  }
}

void ResultRecorder::searched_alignments(const std::string& module,
                                         const EvaluatedSplit& result) const {
  for (std::size_t i = 0; i < result.searched.size(); ++i) {
    const Decoded& decoded = result.decoded[i];
    record({module, update_, static_cast<Index>(i), 0},
           {data_.source.get(),
            split_.examples[i].source,
            *data_.target,
            decoded.tokens,
            {},
            copied(split_.examples[i].source_text),
            decoded.replaced.empty() ? "" : std::string_view(decoded.text)},
           result.searched[i]);
  }
}

void ResultRecorder::sentences(const EvaluatedSplit& result, const Spec& spec) const {
  const Dimension sentence{"sentence", std::ssize(split_.examples)};
  const auto put = [&](const char* name, Values values, const char* text) {
    if (std::ranges::count(kSentenceArrays, name) == 0)
      throw BugError("a metric's column may be called '{}': add it to kSentenceArrays", name);
    recorder_.array("test", name, {sentence}, std::move(values), {{"long_name", text}});
  };
  const std::vector<Index> counted = source_lengths(spec, split_);
  const std::vector<std::int32_t> lengths(counted.begin(), counted.end());
  std::vector<std::string> sources, references, hypotheses, replaced;
  std::vector<double> scores;
  for (const Example example : split_.examples) {
    sources.emplace_back(example.source_text);
    references.emplace_back(example.target_text);
  }
  for (const Decoded& one : result.decoded) {
    hypotheses.push_back(one.text);
    replaced.push_back(links_text(one.replaced));
    scores.push_back(one.score);
  }
  put("source_length", lengths, counts_words(spec) ? "source words" : "source tokens without </s>");
  if (const std::vector<Index> lines = lines_of(split_); !lines.empty())
    put("line", lines, "line of the file, from 1");
  if (!split_.clusters.empty())
    put("cluster",
        std::vector<std::int32_t>(split_.clusters.begin(), split_.clusters.end()),
        "sentences of one number are not independent");
  put("source", sources, "as in the data");
  if (has_references(split_)) put("reference", references, "as in the data");
  if (!split_.references.empty()) {
    std::vector<std::string> further;
    for (const auto& all : split_.references) further.insert(further.end(), all.begin(), all.end());
    recorder_.array("test",
                    "references",
                    {sentence, {"further", std::ssize(split_.references.front())}},
                    further,
                    {{"long_name", "further references; empty: missing"}});
  }
  put("hypothesis", hypotheses, "the search's best");
  const auto empty = [](const std::string& links) { return links.empty(); };
  if ((spec.evaluate.unknown_words && !spec.evaluate.unknown_words->forbids()) ||
      !std::ranges::all_of(replaced, empty))
    put("replaced_words",
        replaced,
        "<unk> of the search that a word stands for: i-j of its source word and symbol, from 0");
  put("model_score", scores, "what the search ranked by");
}

void ResultRecorder::counts(const CountTable& counts) const {
  for (const CountColumn& column : counts.layout().columns()) {
    if (!is_measured(counts, column)) continue;
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
  if (!table.length_unit.empty()) totals["length_unit"] = table.length_unit;
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    if (!std::isfinite(table.at(0, m))) continue;  // undefined for this model or task
    const std::string& name = table.metrics[m];
    totals[name] = table.at(0, m);
    if (!table.facts[m].signature.empty()) totals[name + "_signature"] = table.facts[m].signature;
    std::vector<double> values;
    for (std::size_t row = 1; row < table.rows.size(); ++row) values.push_back(table.at(row, m));
    recorder_.array(group, name, {bucket}, values, stored(table.facts[m]));
  }
  recorder_.attributes("test", totals);
}

MetricTable ResultRecorder::test(const Spec& spec, const EvaluatedSplit& result) const {
  const MetricTable metrics = metrics_of(spec, split_, data_.source.get(), result.counts);
  sentences(result, spec);
  counts(result.counts);
  table(metrics);
  return metrics;
}

}  // namespace softalign
