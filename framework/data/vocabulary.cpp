#include "framework/data/vocabulary.hpp"

#include <numeric>

#include "framework/base/error.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/table_vocabulary.hpp"
#include "framework/data/text.hpp"

namespace softalign {
namespace {
constexpr std::string_view kVocabularyMagic = "softalign-vocabulary 1 ";
}

std::vector<Token> Vocabulary::encode(std::string_view line) const {
  std::vector<Token> ids;
  for (const std::string& symbol : split(line)) ids.push_back(id(symbol));
  return ids;
}

std::vector<Token> Vocabulary::encode_with_dropout(std::string_view,
                                                   double,
                                                   const RandomStream&) const {
  throw BugError("a vocabulary of {} has no merges to leave out", type());
}

std::vector<Index> Vocabulary::word_of_pieces(std::span<const Token> ids) const {
  std::vector<std::string> symbols;
  for (const Token id : ids) symbols.push_back(symbol(id));
  return words_of(symbols);
}

std::vector<Index> Vocabulary::words_of(const std::vector<std::string>& symbols) const {
  std::vector<Index> words(symbols.size());
  std::iota(words.begin(), words.end(), Index{0});
  return words;
}

std::string vocabulary_header(std::string_view type) {
  return fmt::format("{}{}\n", kVocabularyMagic, type);
}

std::shared_ptr<const Vocabulary> load_vocabulary(std::string_view serialized) {
  const std::size_t end = serialized.find('\n');
  if (!serialized.starts_with(kVocabularyMagic) || end == std::string_view::npos ||
      serialized.back() != '\n')
    throw DataError("not a vocabulary: it must begin with a line '{}TYPE' and end with a newline",
                    kVocabularyMagic);
  const std::string type(serialized.substr(kVocabularyMagic.size(), end - kVocabularyMagic.size()));
  const std::string_view body = serialized.substr(end + 1);
  const std::vector<std::string_view> rows = split_words(body);
  const std::vector<std::string> symbols(rows.begin(), rows.end());
  if (type == "words" || type == "symbols") return std::make_shared<WordVocabulary>(type, symbols);
  if (type == "characters" || type == "signs")
    return std::make_shared<CharacterVocabulary>(type, symbols);
  if (type == "sentencepiece" && symbols.size() == 1) return load_sentencepiece(symbols[0]);
  throw DataError("not a vocabulary: type '{}' with {} rows; was it written by a newer version?",
                  printable(type),
                  symbols.size());
}

}  // namespace softalign
