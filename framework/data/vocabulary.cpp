#include "framework/data/vocabulary.hpp"

#include <algorithm>
#include <numeric>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/data/sentencepiece.hpp"
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
  throw BugError("a vocabulary of {} has no merges to skip", type());
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

std::vector<Token> same_symbols(const Vocabulary& from, const Vocabulary& to) {
  std::vector<Token> symbols(usize(from.size()));
  for (Token id = 0; id < static_cast<Token>(from.size()); ++id)
    symbols[usize(id)] = id < kSpecials ? id : to.id(from.symbol(id));
  return symbols;
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
  if (type == "numbers") return std::make_shared<NumberVocabulary>(symbols);
  if (type == "characters" || type == "signs")
    return std::make_shared<CharacterVocabulary>(type, symbols);
  if (type == "sentencepiece" && symbols.size() == 1) return load_sentencepiece(symbols[0]);
  throw DataError("not a vocabulary: type '{}' with {} rows; was it written by a newer version?",
                  printable(type),
                  symbols.size());
}

TableVocabulary::TableVocabulary(std::string type, const std::vector<std::string>& symbols)
    : type_(std::move(type)), symbols_(std::begin(kSpecialNames), std::end(kSpecialNames)) {
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  for (Token id = 0; id < static_cast<Token>(symbols_.size()); ++id) {
    const std::string& name = symbols_[usize(id)];
    if (name.empty()) throw DataError("vocabulary of {}: symbol {} is empty", type_, id);
    if (const auto [known, is_new] = ids_.emplace(name, id); !is_new)
      throw DataError("vocabulary of {}: symbol {}, '{}', was symbol {} already",
                      type_,
                      id,
                      printable(name),
                      known->second);
  }
  for (const std::string_view name : kSpecialNames) ids_.erase(ids_.find(name));
}

const std::string& TableVocabulary::symbol(Token id) const { return symbols_.at(usize(id)); }

Token TableVocabulary::id(std::string_view symbol) const {
  const auto found = ids_.find(symbol);
  return found == ids_.end() ? kUnknown : found->second;
}

std::string TableVocabulary::serialize() const {
  std::string text = vocabulary_header(type_);
  for (std::size_t k = kSpecials; k < symbols_.size(); ++k) text += symbols_[k] + '\n';
  return text;
}

std::vector<std::string> WordVocabulary::split(std::string_view line) const {
  const std::vector<std::string_view> words = split_words(line);
  return {words.begin(), words.end()};
}

std::string WordVocabulary::join(const std::vector<Token>& ids) const {
  std::string line;
  for (const Token id : ids) {
    if (id == kBegin || id == kEnd) continue;
    if (!line.empty()) line += ' ';
    line += symbol(id);
  }
  return line;
}

NumberVocabulary::NumberVocabulary(const std::vector<std::string>& symbols)
    : WordVocabulary("numbers", symbols) {
  for (const std::string& symbol : symbols) {
    const auto number = number_in(symbol);
    if (!number || (!numbers_.empty() && *number <= numbers_.back()))
      throw DataError("the target symbols are not rising numbers: '{}'", printable(symbol));
    if (!numbers_.empty()) edges_.push_back(numbers_.back() / 2 + *number / 2);
    numbers_.push_back(*number);
  }
  if (edges_.empty()) throw DataError("the target symbols are fewer than two numbers");
}

Token NumberVocabulary::id(std::string_view symbol) const {
  const auto number = number_in(symbol);
  return number ? nearest(*number) : kUnknown;
}

Token NumberVocabulary::nearest(double number) const {
  const auto above = std::ranges::upper_bound(edges_, number);
  return kSpecials + static_cast<Token>(above - edges_.begin());
}

std::vector<std::string> CharacterVocabulary::split(std::string_view line) const {
  const std::string text = single_spaced(line);
  std::vector<std::string> characters;
  for (const std::string_view character : code_points(text))
    characters.emplace_back(character == " " ? kSpaceMark : character);
  return characters;
}

std::string CharacterVocabulary::join(const std::vector<Token>& ids) const {
  std::string marked;
  for (const Token id : ids)
    if (id != kBegin && id != kEnd) marked += symbol(id);
  return unmark_spaces(marked);
}

std::vector<Index> CharacterVocabulary::words_of(const std::vector<std::string>& symbols) const {
  return words_of_marked(symbols, LoneMark::before);
}

}  // namespace softalign
