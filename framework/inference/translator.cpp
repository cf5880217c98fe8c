#include "framework/inference/translator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/text.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/train/results.hpp"

namespace softalign {
namespace {

std::size_t block_of(const TrainedRuns& runs, const Workers& workers) {
  return usize(4 * runs.first().spec().evaluate.batch * workers.threads());
}

}  // namespace

Translator::Translator(const TrainedRuns& runs, Index most, std::string input, TakeHypothesis take)
    : runs_(runs),
      search_(runs.search()),
      workers_(resolve_thread_count(runs.options.threads)),
      most_(most),
      input_(std::move(input)),
      take_(std::move(take)),
      sources_(run()),
      sizes_(runs) {
  if (most <= search_->most()) return;
  const std::string_view option = search_->most_option();
  throw SpecError("{} hypotheses per sentence: search '{}' finds at most {}; set {}={}",
                  most,
                  run().spec().evaluate.search.type,
                  search_->most(),
                  option.empty() ? "search=beam search.width" : fmt::format("search.{}", option),
                  most);
}

std::size_t Translator::block() const { return block_of(runs_, workers_); }

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines, Index first) {
  return translate_sources(lines, first);
}

std::vector<Translation> Translator::translate_frames(const std::vector<std::vector<float>>& arrays,
                                                      Index first) {
  if (!run().frames)
    throw SpecError("{}: frames, but run {} reads text", input_, run().record.run_id());
  return translate_sources(arrays, first);
}

template <class Sources>
std::vector<Translation> Translator::translate_sources(const Sources& sources, Index first) {
  Split split{.name = {}, .examples = Examples(run().frames), .counts = {}};
  std::vector<Translation> translations(sources.size());
  std::vector<Index> line_of;  // of each example
  for (std::size_t i = 0; i < sources.size(); ++i) {
    translations[i].line = first + static_cast<Index>(i);
    const Example source = sources_.read(sources[i], input_, translations[i].line + 1);
    if (source.source.empty() && source.frames.empty()) continue;
    split.examples.append(source);
    line_of.push_back(translations[i].line);
  }
  sizes_.check(split, true);
  const Batches batches = evaluation_batches(split, run().spec().evaluate.batch);
  const auto search = [&](Index b) {
    const Batch batch = make_batch(split, batches[usize(b)], runs_.scorer.reads_links());
    std::vector<Index> numbers;  // random draws depend only on the line
    for (const Index example : batch.example) numbers.push_back(line_of[usize(example)]);
    SourceBatch source = batch.source_side();
    source.examples = numbers;
    Tape tape(Tape::Mode::infer);
    auto found = search_->run(runs_.scorer, tape, source);
    for (std::size_t row = 0; row < found.size(); ++row) {
      auto& best = found[row];
      best.resize(std::min(best.size(), usize(most_)));
      const auto example = usize(batch.example[row]);
      for (std::size_t k = 0; take_ && k < best.size(); ++k)
        take_(numbers[row], static_cast<Index>(k), split.examples[example].source, best[k]);
      translations[usize(numbers[row] - first)].hypotheses = std::move(best);
    }
  };
  try {
    workers_.run(std::ssize(batches), search);
  } catch (const DataError&) {
    refuse_unreadable(runs_.scorer, split, input_, line_of);
    throw;
  }
  return translations;
}

ForcedDecoder::ForcedDecoder(const TrainedRuns& runs, std::string input, TakeHypothesis take)
    : runs_(runs),
      workers_(resolve_thread_count(runs.options.threads)),
      input_(std::move(input)),
      take_(std::move(take)),
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
    split.examples.append(example);
    line_of.push_back(line);
  }
  sizes_.check(split, false);
  std::vector<Hypothesis> hypotheses(sources.size());
  const Batches batches = evaluation_batches(split, runs_.first().spec().evaluate.batch);
  const auto force_batch = [&](Index b) {
    const Batch batch = make_batch(split, batches[usize(b)], runs_.scorer.reads_links());
    std::vector<std::span<const Token>> tokens;
    for (const Index example : batch.example)
      tokens.push_back(split.examples[usize(example)].target);
    Tape tape(Tape::Mode::infer);
    std::vector<Forced> forced = force(runs_.scorer, tape, batch.source_side(), tokens);
    for (std::size_t row = 0; row < forced.size(); ++row) {
      const auto example = usize(batch.example[row]);
      const Index line = line_of[example];
      if (take_) take_(line, 0, split.examples[example].source, forced[row].hypothesis);
      hypotheses[usize(line - first)] = std::move(forced[row].hypothesis);
    }
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
      {"text", target.join(hypothesis.tokens)},
      {"score", hypothesis.score},
      {"log_probability", hypothesis.log_probability},
      {"finished", hypothesis.finished},
      {"tokens", symbols_of(target, hypothesis.tokens, static_cast<Index>(hypothesis.steps()))},
      {"log_probabilities", hypothesis.log_probabilities}};
  if (hypothesis.drawn > 0) json["drawn"] = hypothesis.drawn;
  return json;
}

JsonObject translation_json(const Translation& translation, const Vocabulary& target) {
  JsonObject hypotheses = JsonObject::array();
  for (const Hypothesis& one : translation.hypotheses)
    hypotheses.push_back(hypothesis_json(one, target));
  return {{"line", translation.line}, {"hypotheses", std::move(hypotheses)}};
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

std::vector<Token> UnknownSymbols::encode(const std::string& line) {
  constexpr std::size_t kExamples = 5;
  std::vector<Token> tokens = vocabulary_.encode(line);
  symbols_ += std::ssize(tokens);
  const Index unknown = std::count(tokens.begin(), tokens.end(), kUnknown);
  if (unknown == 0) return tokens;
  unknown_ += unknown;
  const std::vector<std::string> symbols = vocabulary_.split(line);
  for (std::size_t i = 0; i < tokens.size() && !more_; ++i) {
    if (tokens[i] != kUnknown) continue;
    const std::string symbol = printable(symbols[i]);
    if (std::find(examples_.begin(), examples_.end(), symbol) != examples_.end()) continue;
    more_ = examples_.size() == kExamples;
    if (!more_) examples_.push_back(symbol);
  }
  return tokens;
}

std::string UnknownSymbols::note() const {
  if (unknown_ == 0) return "";
  return fmt::format(
      "note: {} of {} {} symbols are not in the vocabulary and read as <unk>: {}{}\n",
      unknown_,
      symbols_,
      side_,
      fmt::join(examples_, " "),
      more_ ? " ..." : "");
}

Example NewSources::read(const std::string& line, const std::string& file, Index number) {
  if (!symbols_) try {
      numbers_ = frames_of_line(line, frames_);
      normalise_frames(numbers_, frames_, statistics_);
      return {.frames = numbers_};
    } catch (const DataError& error) {
      throw DataError("{}:{}: {}", printable(file, kWhole), number, error);
    }
  tokens_ = symbols_->encode(line);
  return {.source = tokens_};
}

Example NewSources::read(const std::vector<float>& frames, const std::string& file, Index number) {
  numbers_ = frames;
  try {
    normalise_frames(numbers_, frames_, statistics_);
  } catch (const DataError& error) {
    throw DataError("{}: array {}: {}", file, number - 1, error);
  }
  return {.frames = numbers_};
}

void refuse_unreadable(const Scorer& scorer,
                       const Split& split,
                       const std::string& file,
                       std::span<const Index> lines) {
  Tape tape(Tape::Mode::infer);
  for (std::size_t i = 0; i < split.examples.size(); ++i) try {
      const Batch alone = make_batch(split, std::vector{static_cast<Index>(i)}, false);
      tape.reset();
      scorer.read(tape, alone.source_side());
    } catch (const DataError& error) {
      throw DataError("{}:{}: {}", printable(file, kWhole), lines[i] + 1, error.what());
    }
}

}  // namespace softalign
