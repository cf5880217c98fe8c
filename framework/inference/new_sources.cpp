#include <fmt/ranges.h>
#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/data/batches.hpp"
#include "framework/data/text.hpp"
#include "framework/inference/translator.hpp"

namespace softalign {

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

void NewSources::normalise() {
  if (!numbers_.empty()) task_->check_source(std::ssize(numbers_) / frames_.size);
  normalise_frames(numbers_, frames_, statistics_);
}

Example NewSources::read(const std::string& line, const std::string& file, Index number) {
  if (!symbols_) try {
      numbers_ = frames_of_line(line, frames_);
      normalise();
      return {.frames = numbers_};
    } catch (const DataError& error) {
      throw DataError("{}:{}: {}", printable(file, kWhole), number, error);
    }
  tokens_ = symbols_->encode(line);
  return {.source = tokens_, .source_text = line};
}

Index NewSources::length(const std::string& line) const {
  if (symbols_) return symbols_->count(line);
  return std::ssize(split_words(line)) / frames_.size;
}

Index NewSources::length(const std::vector<float>& frames) const {
  return std::ssize(frames) / frames_.size;
}

Index NewSources::length(const Example& source) const {
  return symbols_ ? std::ssize(source.source) : std::ssize(source.frames) / frames_.size;
}

Example NewSources::read(const std::vector<float>& frames, const std::string& file, Index number) {
  numbers_ = frames;
  try {
    normalise();
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
      const Batch alone = make_batch(
          split, std::vector{static_cast<Index>(i)}, {false, scorer.batch_parts().copies});
      tape.reset();
      scorer.read(tape, alone.source_side());
    } catch (const DataError& error) {
      throw DataError("{}:{}: {}", printable(file, kWhole), lines[i] + 1, error.what());
    }
}

}  // namespace softalign
