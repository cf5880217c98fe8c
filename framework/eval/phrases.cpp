#include "framework/eval/phrases.hpp"

#include <algorithm>

namespace softalign {

PhraseSet::PhraseSet(std::span<const Demands::Phrase> phrases) {
  for (const Demands::Phrase& phrase : phrases) {
    const auto equal = [&](const Pattern& one) { return one.symbols == phrase; };
    if (phrase.empty() || std::ranges::any_of(patterns_, equal)) continue;
    std::vector<Index> shorter(phrase.size());
    for (std::size_t i = 1; i < phrase.size(); ++i) {
      Index length = shorter[i - 1];
      while (length > 0 && phrase[usize(length)] != phrase[i]) length = shorter[usize(length - 1)];
      shorter[i] = phrase[usize(length)] == phrase[i] ? length + 1 : 0;
    }
    symbols_ += std::ssize(phrase);
    patterns_.push_back({phrase, std::move(shorter)});
  }
}

Token PhraseSet::next(Index phrase, std::span<const Index> progress) const {
  const Demands::Phrase& symbols = patterns_[usize(phrase)].symbols;
  const auto at = usize(progress[usize(phrase)]);
  return at < symbols.size() ? symbols[at] : -1;
}

Index PhraseSet::after(Index phrase, std::span<const Index> progress, Token token) const {
  const Pattern& pattern = patterns_[usize(phrase)];
  Index length = progress[usize(phrase)];
  if (length == std::ssize(pattern.symbols)) return length;
  while (length > 0 && pattern.symbols[usize(length)] != token)
    length = pattern.shorter[usize(length - 1)];
  return pattern.symbols[usize(length)] == token ? length + 1 : 0;
}

// Returns the number of symbols that all incomplete phrases lack if only the most advanced one is continued.
template <class Progress>
Index PhraseSet::missing_if(Progress&& progress) const {
  Index missing = 0, begun = 0;
  for (Index phrase = 0; phrase < count(); ++phrase) {
    const Index length = std::ssize(patterns_[usize(phrase)].symbols), written = progress(phrase);
    if (written == length) continue;
    missing += length;
    begun = std::max(begun, written);
  }
  return missing - begun;
}

Index PhraseSet::missing(std::span<const Index> progress) const {
  return missing_if([&](Index phrase) { return progress[usize(phrase)]; });
}

Index PhraseSet::missing_after(std::span<const Index> progress, Token token) const {
  return missing_if([&](Index phrase) { return after(phrase, progress, token); });
}

PhraseProgress::PhraseProgress(const Demands& demands, Index sentences, Index capacity) {
  if (demands.phrases.empty()) return;
  for (Index sentence = 0; sentence < sentences; ++sentence) {
    sets_.emplace_back(demands.phrases_of(sentence));
    most_ = std::max(most_, sets_.back().count());
  }
  now_.reserve(usize(capacity * most_));
  next_.reserve(usize(capacity * most_));
  now_.resize(usize(sentences * most_));  // each sentence begins with one hypothesis
}

std::span<const Index> PhraseProgress::at(Index sentence, std::size_t live) const {
  return std::span(now_).subspan(live * usize(most_), usize(of(sentence).count()));
}

Index PhraseProgress::most_symbols() const {
  Index most = 0;
  for (const PhraseSet& set : sets_) most = std::max(most, set.symbols());
  return most;
}

void PhraseProgress::go_on(Index sentence, std::size_t live, Token token) {
  if (most_ == 0) return;
  const PhraseSet& set = of(sentence);
  const std::span<const Index> progress = at(sentence, live);
  for (Index phrase = 0; phrase < most_; ++phrase)
    next_.push_back(phrase < set.count() ? set.after(phrase, progress, token) : 0);
}

void PhraseProgress::advance() {
  now_.swap(next_);
  next_.clear();
}

void allocate_banks(Index width, std::span<const Index> candidates, std::span<Index> slots) {
  const Index banks = std::ssize(candidates), share = width / banks;
  Index left = width - share * banks;
  for (Index bank = banks - 1; bank >= 0; --bank) {
    left += share;
    slots[usize(bank)] = std::min(left, candidates[usize(bank)]);
    left -= slots[usize(bank)];
  }
  for (Index bank = banks - 1; bank >= 0 && left > 0; --bank) {
    const Index more = std::min(left, candidates[usize(bank)] - slots[usize(bank)]);
    slots[usize(bank)] += more;
    left -= more;
  }
}

}  // namespace softalign
