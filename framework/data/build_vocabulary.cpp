#include "framework/data/build_vocabulary.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

template <class Table>
class SymbolCounter final : public VocabularyBuilder {
 public:
  explicit SymbolCounter(const VocabularyOptions& options)
      : options_(options), splitter_(options.type, {}) {}

  void add(const std::string& line) override {
    for (std::string& symbol : splitter_.split(line)) ++counts_[std::move(symbol)];
  }

  std::shared_ptr<const Vocabulary> finish(const Progress&) override {
    for (const std::string_view name : kSpecialNames) counts_.erase(std::string(name));
    std::vector<std::pair<std::string, Index>> ranked(counts_.begin(), counts_.end());
    std::ranges::sort(ranked, [](const auto& a, const auto& b) {  // ties: bytewise
      return std::tie(b.second, a.first) < std::tie(a.second, b.first);
    });
    const Index least = options_.min_count.value_or(1);
    if (!ranked.empty() && ranked.front().second < least)
      throw DataError("no symbol occurs {} times; lower task.vocabulary.min_count", least);
    std::vector<std::string> symbols;
    for (auto& [symbol, count] : ranked) {
      if (std::ssize(symbols) == options_.size - kSpecials || count < least) break;
      symbols.push_back(std::move(symbol));
    }
    return std::make_shared<Table>(options_.type, symbols);
  }

 private:
  VocabularyOptions options_;
  Table splitter_;
  // Millions of symbols are counted; `finish` sorts them, so their order here does not matter.
  std::unordered_map<std::string, Index, TextHash, std::equal_to<>> counts_;
};

// Collects the lines, because the library needs all of them at once.
class PieceTrainer final : public VocabularyBuilder {
 public:
  explicit PieceTrainer(const VocabularyOptions& options) : options_(options) {}
  void add(const std::string& line) override { lines_.push_back(line); }
  std::shared_ptr<const Vocabulary> finish(const Progress& progress) override {
    return train_sentencepiece(lines_, options_.size, options_.model, progress);
  }

 private:
  VocabularyOptions options_;
  std::vector<std::string> lines_;
};

}  // namespace

std::unique_ptr<VocabularyBuilder> vocabulary_builder(const VocabularyOptions& options) {
  if (options.type == "words") return std::make_unique<SymbolCounter<WordVocabulary>>(options);
  if (options.type == "characters")
    return std::make_unique<SymbolCounter<CharacterVocabulary>>(options);
  return std::make_unique<PieceTrainer>(options);
}

std::shared_ptr<const Vocabulary> build_vocabulary(const VocabularyOptions& options,
                                                   const std::vector<std::string>& lines) {
  const auto builder = vocabulary_builder(options);
  for (const std::string& line : lines) builder->add(line);
  return builder->finish({});
}

std::shared_ptr<const Vocabulary> symbol_vocabulary(const std::vector<std::string>& symbols) {
  return std::make_shared<WordVocabulary>("symbols", symbols);
}

}  // namespace softalign
