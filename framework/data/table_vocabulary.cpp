#include "framework/data/table_vocabulary.hpp"

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/data/text.hpp"

namespace softalign {

TableVocabulary::TableVocabulary(std::string type, const std::vector<std::string>& symbols)
    : type_(std::move(type)), symbols_(std::begin(kSpecialNames), std::end(kSpecialNames)) {
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
  for (Token id = 0; id < static_cast<Token>(symbols_.size()); ++id) {
    const std::string& name = symbols_[usize(id)];
    if (name.empty() || !ids_.emplace(name, id).second)
      throw DataError(
          "vocabulary of {}: symbol {} ('{}') is empty or given twice", type_, id, printable(name));
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
