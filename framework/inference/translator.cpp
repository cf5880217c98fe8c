#include "framework/inference/translator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/autodiff/tape_pool.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/text.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/inference/evaluate_run.hpp"
#include "framework/train/results.hpp"

namespace softalign {
namespace {

std::size_t block_of(const TrainedRuns& runs, const Workers& workers) {
  return usize(4 * runs.first().spec().evaluate.batch * workers.threads());
}

// Only text has words that could replace an <unk>.
const std::string& text_of_source(const std::string& line) { return line; }
std::string text_of_source(const std::vector<float>&) { return ""; }

}  // namespace

Translator::Translator(const TrainedRuns& runs, TranslatorOptions options)
    : runs_(runs),
      search_(runs.search()),
      unknown_(runs.unknown_words()),
      workers_(resolve_thread_count(runs.options.threads)),
      options_(std::move(options)),
      sources_(run()),
      prefixes_(*run().target, "prefix"),
      sizes_(runs) {
  if (options_.too_long == TooLong::crop && !run().source)
    throw SpecError("--too-long=crop: the sources are frames, which cannot be cropped; use skip");
  if (unknown_ && unknown_->forbids()) require(Demand::no_unknown, "evaluate.unknown_words.by");
  const bool own_words = std::ranges::none_of(runs.options.changes, [](const Override& change) {
    return change.path.starts_with("evaluate.unknown_words");
  });
  if (own_words && lexicon_changed(run()))
    runs.note("note: evaluate.unknown_words.lexicon changed since the run read it");
  if (options_.most <= search_->most()) return;
  const std::string_view option = search_->most_option();
  throw SpecError("{} hypotheses per sentence: search '{}' finds at most {}; set {}={}",
                  options_.most,
                  run().spec().evaluate.search.type,
                  search_->most(),
                  option.empty() ? "search=beam search.width" : fmt::format("search.{}", option),
                  options_.most);
}

void Translator::require(Demand demand, std::string_view asked_by) const {
  check_demand(*search_, demand, asked_by, run().spec().evaluate.search.type);
}

std::size_t Translator::block() const { return block_of(runs_, workers_); }

// The limit is the same for all blocks, so that cropping does not depend on how the text arrives.
template <class Source>
Index Translator::longest_of(const std::vector<Source>& sources) {
  if (options_.too_long == TooLong::refuse) return std::numeric_limits<Index>::max();
  Index longest = 0;
  for (const Source& source : sources) longest = std::max(longest, sources_.length(source));
  return sizes_.longest_source(std::min(longest, kLongestSentence), static_cast<Index>(block()));
}

std::vector<Demands::Phrase> Translator::phrases_of(const std::string& line,
                                                    std::span<const std::string_view> copied,
                                                    const std::string& file,
                                                    Index number) const {
  const Vocabulary& target = *run().target;
  const Copies* const copies = runs_.scorer.batch_parts().copies;
  std::vector<Demands::Phrase> phrases;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    const std::string phrase = line.substr(begin, end - begin);
    begin = end + 1;
    phrases.push_back(target.encode(phrase));
    if (copies != nullptr) copies->extend(phrases.back(), phrase, copied);
    if (const auto unknown = std::ranges::find(phrases.back(), kUnknown);
        unknown != phrases.back().end())
      throw DataError("{}:{}: no output can contain '{}': '{}' is not in the target vocabulary",
                      file,
                      number,
                      printable(phrase),
                      printable(target.split(phrase)[usize(unknown - phrases.back().begin())]));
    if (phrases.back().empty()) phrases.pop_back();
  }
  return phrases;
}

template <class Source>
Translator::Block Translator::read(const std::vector<Source>& sources,
                                   const LineDemands& demands,
                                   std::vector<Translation>& translations) {
  Block block{.split = {.name = {}, .examples = Examples(run().frames), .counts = {}}};
  const Index longest = longest_of(sources);
  const Copies* const copies = runs_.scorer.batch_parts().copies;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Translation& translation = translations[i];
    Example source = sources_.read(sources[i], options_.input, translation.line + 1);
    const Index length = sources_.length(source);
    if (length == 0) {
      const bool asked = (!demands.prefixes.empty() && !split_words(demands.prefixes[i]).empty()) ||
                         (!demands.phrases.empty() && !split_words(demands.phrases[i]).empty());
      if (asked && unmet_++ == 0) first_unmet_ = translation.line;
      continue;
    }
    if (length > longest) {
      longest_ = longest;
      if (too_long_++ == 0) first_too_long_ = translation.line;
      translation.skipped = options_.too_long == TooLong::skip;
      if (translation.skipped) continue;
      translation.cropped = longest;
      source.source = source.source.first(usize(longest));
    }
    block.split.examples.append(source);
    block.line_of.push_back(translation.line);
    std::vector<std::string_view> copied;  // words that can only be copied
    if (copies != nullptr) copied = copies->of(source.source, source.source_text).words;
    if (!demands.prefixes.empty()) {
      block.prefixes.push_back(prefixes_.encode(demands.prefixes[i]));
      if (copies != nullptr) copies->extend(block.prefixes.back(), demands.prefixes[i], copied);
    }
    if (!demands.phrases.empty())
      block.phrases.push_back(
          phrases_of(demands.phrases[i], copied, demands.phrases_file, translation.line + 1));
  }
  return block;
}

// Adds a word for each <unk> that was not copied: from the prefix, or by the run's evaluate.unknown_words.
void Translator::name_unknown(Hypothesis& hypothesis,
                              const std::string& prefix,
                              const std::string& source) const {
  const Vocabulary& target = *run().target;
  if (!prefix.empty() && target.has_words()) {
    const std::vector<std::string> words = target.split(prefix);
    std::vector<ReplacedWord>& replaced = hypothesis.replaced;
    for (Index i = 0; i < std::ssize(words); ++i) {
      const auto at = std::ranges::lower_bound(replaced, i, {}, &ReplacedWord::symbol);
      if (hypothesis.tokens[usize(i)] == kUnknown && (at == replaced.end() || at->symbol != i))
        replaced.insert(at, {i, -1, words[usize(i)]});
    }
  }
  if (unknown_) unknown_->replace(hypothesis, source);
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               Index first,
                                               const LineDemands& demands) {
  return translate_all(lines, first, demands);
}

std::vector<Translation> Translator::translate_frames(const std::vector<std::vector<float>>& arrays,
                                                      Index first,
                                                      const LineDemands& demands) {
  if (!run().frames)
    throw SpecError("{}: frames, but run {} reads text", options_.input, run().run_id);
  return translate_all(arrays, first, demands);
}

template <class Source>
std::vector<Translation> Translator::translate_all(const std::vector<Source>& sources,
                                                   Index first,
                                                   const LineDemands& demands) {
  std::vector<Translation> translations(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    translations[i].line = first + static_cast<Index>(i);
  const Block block = read(sources, demands, translations);
  if (options_.too_long == TooLong::refuse) sizes_.check(block.split, true);
  const Batches batches = evaluation_batches(block.split, run().spec().evaluate.batch);
  TapePool tapes;
  const auto search = [&](Index b) {
    const Batch batch = make_batch(block.split, batches[usize(b)], runs_.scorer.batch_parts());
    std::vector<Index> numbers;  // random draws depend only on the line
    std::vector<std::vector<Token>> prefixes;
    std::vector<std::vector<Demands::Phrase>> phrases;
    for (const Index example : batch.example) {
      numbers.push_back(block.line_of[usize(example)]);
      if (!block.prefixes.empty()) prefixes.push_back(block.prefixes[usize(example)]);
      if (!block.phrases.empty()) phrases.push_back(block.phrases[usize(example)]);
    }
    SourceBatch source = batch.source_side();
    source.examples = numbers;
    const auto tape = tapes.borrow();
    auto found = search_->run(
        runs_.scorer, *tape, source, {unknown_ && unknown_->forbids(), prefixes, phrases});
    for (std::size_t row = 0; row < found.size(); ++row) {
      auto& best = found[row];
      best.resize(std::min(best.size(), usize(options_.most)));
      const auto example = usize(batch.example[row]);
      const auto line = usize(numbers[row] - first);
      for (std::size_t k = 0; k < best.size(); ++k) {
        name_unknown(best[k],
                     demands.prefixes.empty() ? "" : demands.prefixes[line],
                     text_of_source(sources[line]));
        if (options_.take)
          options_.take(
              numbers[row], static_cast<Index>(k), block.split.examples[example], best[k]);
      }
      translations[line].hypotheses = std::move(best);
    }
    if (options_.done) options_.done(batch.rows);
  };
  try {
    workers_.run(std::ssize(batches), search);
  } catch (const DataError&) {
    refuse_unreadable(runs_.scorer, block.split, options_.input, block.line_of);
    throw;
  }
  return translations;
}

std::string Translator::notes() const {
  std::string text = sources_.note() + prefixes_.note();
  if (too_long_ > 0)
    text += fmt::format(
        "note: {} of more than {} {} {}, the first in line {}; longer ones fit with a smaller "
        "batch=N, in at most {} symbols\n",
        counted(too_long_, "line"),
        counted(longest_, "symbol"),
        too_long_ == 1 ? "was" : "were",
        options_.too_long == TooLong::crop ? "cropped" : "skipped",
        first_too_long_ + 1,
        kLongestSentence);
  if (unmet_ > 0)
    text += fmt::format(
        "note: {} without words {} not translated, although there is a prefix or phrase for {}; "
        "the "
        "first is line {}\n",
        counted(unmet_, "line"),
        unmet_ == 1 ? "is" : "are",
        unmet_ == 1 ? "it" : "them",
        first_unmet_ + 1);
  return text;
}

ForcedDecoder::ForcedDecoder(const TrainedRuns& runs,
                             std::string input,
                             TakeHypothesis take,
                             CountLines done)
    : runs_(runs),
      workers_(resolve_thread_count(runs.options.threads)),
      input_(std::move(input)),
      take_(std::move(take)),
      done_(std::move(done)),
      sources_(runs.first()),
      targets_(*runs.first().target, "target"),
      sizes_(runs) {}

std::size_t ForcedDecoder::block() const { return block_of(runs_, workers_); }

std::vector<Hypothesis> ForcedDecoder::decode(const std::vector<std::string>& sources,
                                              const std::vector<std::string>& targets,
                                              Index first) {
  Split split{.name = {}, .examples = Examples(runs_.first().frames), .counts = {}};
  std::vector<Index> line_of;  // of each example
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Example example = sources_.read(sources[i], input_, first + static_cast<Index>(i) + 1);
    const std::vector<Token> target = targets_.encode(targets[i]);
    const Index line = first + static_cast<Index>(i);
    if ((example.source.empty() && example.frames.empty()) || target.empty()) {
      if (empty_++ == 0) first_empty_ = line;
      continue;
    }
    example.target = target;
    example.target_text = targets[i];
    split.examples.append(example);
    line_of.push_back(line);
  }
  sizes_.check(split, false);
  std::vector<Hypothesis> hypotheses(sources.size());
  const Batches batches = evaluation_batches(split, runs_.first().spec().evaluate.batch);
  TapePool tapes;
  const auto force_batch = [&](Index b) {
    const Batch batch = make_batch(split, batches[usize(b)], runs_.scorer.batch_parts());
    std::vector<std::span<const Token>> tokens;
    for (Index row = 0; row < batch.rows; ++row) tokens.push_back(batch.target(row));
    const auto tape = tapes.borrow();
    std::vector<Forced> forced = force(runs_.scorer, *tape, batch.source_side(), tokens);
    for (std::size_t row = 0; row < forced.size(); ++row) {
      const auto example = usize(batch.example[row]);
      const Index line = line_of[example];
      if (take_) take_(line, 0, split.examples[example], forced[row].hypothesis);
      hypotheses[usize(line - first)] = std::move(forced[row].hypothesis);
    }
    if (done_) done_(batch.rows);
  };
  try {
    workers_.run(std::ssize(batches), force_batch);
  } catch (const DataError&) {
    refuse_unreadable(runs_.scorer, split, input_, line_of);
    throw;
  }
  return hypotheses;
}

std::string ForcedDecoder::notes() const {
  std::string text = sources_.note() + targets_.note();
  if (empty_ > 0)
    text += fmt::format("note: {} pairs with an empty side are not scored, the first in line {}\n",
                        empty_,
                        first_empty_ + 1);
  return text;
}

JsonObject hypothesis_json(const Hypothesis& hypothesis, const Vocabulary& target) {
  JsonObject json = {
      {"text", text_of(hypothesis, target)},
      {"score", hypothesis.score},
      {"log_probability", hypothesis.log_probability},
      {"finished", hypothesis.finished},
      {"tokens", symbols_of(target, hypothesis.tokens, static_cast<Index>(hypothesis.steps()))},
      {"log_probabilities", hypothesis.log_probabilities}};
  if (hypothesis.drawn > 0) json["drawn"] = hypothesis.drawn;
  for (const ReplacedWord& one : hypothesis.replaced) {
    JsonObject word = {{"symbol", one.symbol}, {"word", one.text}};
    if (one.source >= 0) word["source"] = one.source;
    json["replaced"].push_back(std::move(word));
  }
  return json;
}

JsonObject translation_json(const Translation& translation, const Vocabulary& target) {
  JsonObject hypotheses = JsonObject::array();
  for (const Hypothesis& one : translation.hypotheses)
    hypotheses.push_back(hypothesis_json(one, target));
  JsonObject json = {{"line", translation.line}, {"hypotheses", std::move(hypotheses)}};
  if (translation.skipped) json["skipped"] = true;
  if (translation.cropped > 0) json["cropped"] = translation.cropped;
  return json;
}

JsonObject score_json(Index line, const Hypothesis& forced, const Vocabulary& target) {
  JsonObject json = {{"line", line}};
  if (forced.finished) {
    json["log_probability"] = forced.log_probability;
    json["tokens"] = symbols_of(target, forced.tokens, std::ssize(forced.tokens) + 1);
    json["log_probabilities"] = forced.log_probabilities;
  }
  return json;
}

}  // namespace softalign
