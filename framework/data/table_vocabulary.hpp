// Vocabularies that are a table of symbols: words, characters, and the named symbols of synthetic
// tasks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/data/vocabulary.hpp"

namespace softalign {

class TableVocabulary : public Vocabulary {
 public:
  // `symbols` in order, without the specials. Throws DataError for a symbol that is empty, named
  // like a special or given twice.
  TableVocabulary(std::string type, const std::vector<std::string>& symbols);

  std::string type() const override { return type_; }
  Index size() const override { return static_cast<Index>(symbols_.size()); }
  const std::string& symbol(Token id) const override;
  Token id(std::string_view symbol) const override;
  std::string serialize() const override;

 private:
  std::string type_;
  std::vector<std::string> symbols_;  // with the specials
  std::map<std::string, Token, std::less<>> ids_;
};

// A symbol is a whitespace-separated word. Its type is "words" where the words come from text and
// "symbols" where a task names them.
class WordVocabulary final : public TableVocabulary {
 public:
  using TableVocabulary::TableVocabulary;
  std::vector<std::string> split(std::string_view line) const override;
  std::string join(const std::vector<Token>& ids) const override;
};

// A symbol is a code point; kSpaceMark stands between words, and belongs to the one before it. Its type is
// "characters" where they come from text, whose words they are parts of, and "signs" where a task names them.
class CharacterVocabulary final : public TableVocabulary {
 public:
  using TableVocabulary::TableVocabulary;
  std::vector<std::string> split(std::string_view line) const override;
  std::string join(const std::vector<Token>& ids) const override;
  bool has_pieces() const override { return type() == "characters"; }
  bool marks_spaces() const override { return true; }

 protected:
  std::vector<Index> words_of(const std::vector<std::string>& symbols) const override;
};

}  // namespace softalign
