#include "framework/data/copies.hpp"

#include <algorithm>
#include <utility>

#include "framework/data/text.hpp"

namespace softalign {

Copies::Copies(Index source_symbols, Index target_symbols)
    : symbols_(usize(source_symbols)), target_symbols_(target_symbols) {
  for (std::size_t id = 0; id < symbols_.size(); ++id)
    symbols_[id] = in_vocabulary(static_cast<Token>(id), target_symbols);
}

Copies::Copies(const Vocabulary& source, std::shared_ptr<const Vocabulary> target)
    : symbols_(same_symbols(source, *target)), target_symbols_(target->size()) {
  if (source.has_words() && target->has_words()) words_ = std::move(target);
}

Copies::OfSentence Copies::of(std::span<const Token> source, std::string_view text) const {
  OfSentence copies{std::vector<Token>(source.size()),
                    std::vector<std::string_view>(source.size())};
  std::ranges::transform(
      source, copies.symbols.begin(), [&](Token id) { return symbols_[usize(id)]; });
  if (!words_ || std::ranges::find(copies.symbols, kUnknown) == copies.symbols.end()) return copies;
  const std::vector<std::string_view> words = split_words(text);
  if (words.size() < source.size()) return copies;
  for (std::size_t s = 0; s < source.size(); ++s) {
    Token& copy = copies.symbols[s];
    if (copy == kUnknown)
      copy = words_->id(words[s]);  // perhaps only the source vocabulary lacks the word
    if (copy != kUnknown) continue;
    const auto first = std::find(words.begin(), words.begin() + static_cast<Index>(s), words[s]);
    copy = static_cast<Token>(target_symbols_ + (first - words.begin()));
    copies.words[usize(first - words.begin())] = words[s];
  }
  return copies;
}

void Copies::extend(std::span<Token> target,
                    std::string_view text,
                    std::span<const std::string_view> words) const {
  if (!words_ || std::ranges::find(target, kUnknown) == target.end()) return;
  const std::vector<std::string_view> written = split_words(text);
  for (std::size_t t = 0; t < std::min(target.size(), written.size()); ++t) {
    if (target[t] != kUnknown) continue;
    const auto same = std::ranges::find(words, written[t]);
    if (same != words.end())
      target[t] = static_cast<Token>(target_symbols_ + (same - words.begin()));
  }
}

}  // namespace softalign
