// Vocabularies: symbols, their indices, and the conversion between lines of text and symbols.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// The first three indices of every vocabulary.
inline constexpr Token kUnknown = 0;  // <unk>
inline constexpr Token kBegin = 1;    // <s>
inline constexpr Token kEnd = 2;      // </s>
inline constexpr Token kSpecials = 3;
inline constexpr std::string_view kSpecialNames[kSpecials] = {"<unk>", "<s>", "</s>"};

class RandomStream;

// Immutable after construction.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  // "words", "characters" or "sentencepiece"; for a task's own symbols "symbols", "signs" or "numbers".
  virtual std::string type() const = 0;
  virtual Index size() const = 0;  // including the specials
  virtual const std::string& symbol(Token id) const = 0;
  // Returns kUnknown for missing symbols and for the names of the specials: text never yields a sentence mark.
  virtual Token id(std::string_view symbol) const = 0;
  // Splits a line into symbols; unknown ones are not changed.
  virtual std::vector<std::string> split(std::string_view line) const = 0;
  // Returns the indices of the line's symbols when subword merges are skipped with probability `dropout`, drawn
  // from the stream. Throws BugError for a vocabulary without merges.
  virtual std::vector<Token> encode_with_dropout(std::string_view line,
                                                 double dropout,
                                                 const RandomStream& stream) const;
  // Returns the symbols as a readable line, without <s> and </s>. <unk> stays visible (metrics count it as a
  // wrong word).
  virtual std::string join(const std::vector<Token>& ids) const = 0;
  // Returns whether symbols may be parts of words (subwords or characters), which are displayed as whole words.
  virtual bool has_pieces() const { return false; }
  // Returns for each symbol the index of its word in the text of `join`. </s> must not occur. Without pieces, each
  // symbol is a word.
  std::vector<Index> word_of_pieces(std::span<const Token> ids) const;
  // Returns for each symbol of split(line) the index of its whitespace-separated word.
  std::vector<Index> word_of(std::string_view line) const { return words_of(split(line)); }
  // Returns whether kSpaceMark denotes a space, so that text with this character would be changed.
  virtual bool marks_spaces() const { return false; }
  // Returns whether each symbol is a word of the text.
  bool has_words() const { return !has_pieces() && !marks_spaces(); }
  // Returns a printable text from which load_vocabulary restores the vocabulary.
  virtual std::string serialize() const = 0;

  std::vector<Token> encode(std::string_view line) const;  // the indices of split(line)

 protected:
  virtual std::vector<Index> words_of(const std::vector<std::string>& symbols) const;
};

// Returns [symbols of `from`]: the symbol of `to` with the same name, or kUnknown. Specials are not changed.
std::vector<Token> same_symbols(const Vocabulary& from, const Vocabulary& to);

// Returns the first line of a serialized vocabulary.
std::string vocabulary_header(std::string_view type);

// Throws DataError if the text was not written by `serialize`.
std::shared_ptr<const Vocabulary> load_vocabulary(std::string_view serialized);

// A vocabulary that is a table of symbols: words, characters, or the named symbols of synthetic tasks.
class TableVocabulary : public Vocabulary {
 public:
  // symbols: in order, without the specials. Throws DataError for a symbol that is empty, repeated, or named
  // like a special.
  TableVocabulary(std::string type, const std::vector<std::string>& symbols);

  std::string type() const override { return type_; }
  Index size() const override { return static_cast<Index>(symbols_.size()); }
  const std::string& symbol(Token id) const override;
  Token id(std::string_view symbol) const override;
  std::string serialize() const override;

 private:
  std::string type_;
  std::vector<std::string> symbols_;  // including the specials
  std::map<std::string, Token, std::less<>> ids_;
};

// Symbols are whitespace-separated words. The type is "words" for words from text and "symbols"
// for a task's own names.
class WordVocabulary : public TableVocabulary {
 public:
  using TableVocabulary::TableVocabulary;
  std::vector<std::string> split(std::string_view line) const override;
  std::string join(const std::vector<Token>& ids) const override;
};

// Symbols are numbers, the centres of bins; a number in a text becomes the nearest one. The type is "numbers".
class NumberVocabulary final : public WordVocabulary {
 public:
  // Throws DataError unless there are at least two numbers, in ascending order.
  explicit NumberVocabulary(const std::vector<std::string>& symbols);
  Token id(std::string_view symbol) const override;
  Token nearest(double number) const;  // ties: the upper one; outside the bins: the outermost
  // The outer edges of the outermost bins.
  double low() const { return 1.5 * numbers_[0] - 0.5 * numbers_[1]; }
  double high() const { return 1.5 * numbers_.back() - 0.5 * numbers_[numbers_.size() - 2]; }

 private:
  std::vector<double> numbers_, edges_;
};

// Symbols are code points; kSpaceMark separates words and belongs to the preceding word. The type is
// "characters" for the characters of words in text, and "signs" for a task's own characters.
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
