#include "framework/data/build_vocabulary.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/table_vocabulary.hpp"

namespace softalign {
namespace {

std::vector<std::string> most_frequent(const Vocabulary& splitter,
                                       const std::vector<std::string>& lines,
                                       Index most) {
  std::map<std::string, Index> counts;
  for (const std::string& line : lines)
    for (std::string& symbol : splitter.split(line)) ++counts[std::move(symbol)];
  for (const std::string_view name : kSpecialNames) counts.erase(std::string(name));

  std::vector<std::pair<std::string, Index>> ranked(counts.begin(), counts.end());
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;  // stable: ties keep the map's bytewise order
  });
  std::vector<std::string> symbols;
  for (auto& [symbol, count] : ranked) {
    if (std::ssize(symbols) == most) break;
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

template <class Table>
std::shared_ptr<const Vocabulary> count_symbols(const VocabularyOptions& options,
                                                const std::vector<std::string>& lines) {
  const Table splitter(options.type, {});
  return std::make_shared<Table>(options.type,
                                 most_frequent(splitter, lines, options.size - kSpecials));
}

}  // namespace

std::shared_ptr<const Vocabulary> build_vocabulary(const VocabularyOptions& options,
                                                   const std::vector<std::string>& lines) {
  if (options.type == "words") return count_symbols<WordVocabulary>(options, lines);
  if (options.type == "characters") return count_symbols<CharacterVocabulary>(options, lines);
  return train_sentencepiece(lines, options.size, options.model);
}

std::shared_ptr<const Vocabulary> symbol_vocabulary(const std::vector<std::string>& symbols) {
  return std::make_shared<WordVocabulary>("symbols", symbols);
}

}  // namespace softalign
