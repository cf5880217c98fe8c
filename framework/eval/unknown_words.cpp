#include "framework/eval/unknown_words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"
#include "framework/data/text_file.hpp"

namespace softalign {
namespace {

// Returns the source word with the largest weight in a row, the first one in a tie; -1 if there are no words.
Index pointed_at(std::span<const float> row, std::span<const Index> word_of) {
  const std::size_t positions = std::min(row.size(), word_of.size());
  std::vector<double> weights;  // of words
  for (std::size_t s = 0; s < positions; ++s) {
    weights.resize(std::max(weights.size(), usize(word_of[s] + 1)));
    weights[usize(word_of[s])] += static_cast<double>(row[s]);
  }
  if (weights.empty()) return -1;
  return std::ranges::max_element(weights) - weights.begin();
}

}  // namespace

UnknownWords::UnknownWords(const UnknownWordsOptions& options,
                           const Vocabulary* source,
                           const Vocabulary& target,
                           RowAligns rows)
    : options_(options), source_(source), rows_(rows) {
  if (forbids()) return;
  if (source == nullptr)
    throw SpecError(
        "evaluate.unknown_words.by: {} puts source words into the output, but the sources are "
        "frames; use forbid, or remove it",
        options.by);
  if (!target.has_words())
    throw SpecError(
        "evaluate.unknown_words.by: {} replaces words, but the symbols of the target vocabulary "
        "(type {}) are parts of words; use forbid, or remove it",
        options.by,
        target.type());
  if (options.by == "lexicon") read_lexicon();
}

void UnknownWords::read_lexicon() {
  TextFile file(options_.lexicon.path);
  std::string line;
  while (file.next(line)) {
    if (split_words(line).empty()) continue;
    const std::size_t tab = line.find('\t');
    const std::vector<std::string_view> words = split_words(std::string_view(line).substr(0, tab));
    const std::string translation = tab == line.npos ? "" : single_spaced(line.substr(tab + 1));
    if (words.size() != 1 || translation.empty())
      throw DataError(
          "{}:{}: give a source word, a tab and its translation", file.path(), file.line_number());
    lexicon_.emplace(words[0], translation);
  }
}

void UnknownWords::replace(Hypothesis& hypothesis, std::string_view line) const {
  const std::vector<Token>& tokens = hypothesis.tokens;
  if (forbids() || hypothesis.alignment.empty() ||
      std::ranges::find(tokens, kUnknown) == tokens.end())
    return;
  const std::vector<Index> word_of = source_->word_of(line);
  const std::vector<std::string_view> words = split_words(line);
  const std::size_t steps = hypothesis.steps(), positions = hypothesis.alignment.size() / steps;
  std::vector<ReplacedWord> replaced;
  auto given = hypothesis.replaced.begin();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != kUnknown) continue;
    if (given != hypothesis.replaced.end() && given->symbol == static_cast<Index>(i)) {
      replaced.push_back(std::move(*given++));
      continue;
    }
    const std::size_t step = rows_ == RowAligns::read && i + 1 < steps ? i + 1 : i;
    // The last position is </s>.
    const auto row = std::span(hypothesis.alignment).subspan(step * positions, positions - 1);
    const Index at = pointed_at(row, word_of);
    if (at < 0 || at >= std::ssize(words)) continue;
    const std::string_view word = words[usize(at)];
    const auto entry = lexicon_.find(word);
    replaced.push_back(
        {static_cast<Index>(i), at, entry == lexicon_.end() ? std::string(word) : entry->second});
  }
  hypothesis.replaced = std::move(replaced);
}

}  // namespace softalign
