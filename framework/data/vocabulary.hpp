// Symbols and their indices, and how a line of text becomes symbols and back.
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

// Immutable once built.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;
  // "words", "characters", "sentencepiece"; of a task: "symbols", "signs", "numbers"
  virtual std::string type() const = 0;
  virtual Index size() const = 0;  // with the specials
  virtual const std::string& symbol(Token id) const = 0;
  // kUnknown when absent, and for the specials' own names: text never yields a sentence mark.
  virtual Token id(std::string_view symbol) const = 0;
  // A line as symbol strings (unknown ones unchanged), and their indices.
  virtual std::vector<std::string> split(std::string_view line) const = 0;
  // Indices of the line's symbols if merges of sub-words are skipped with this probability, drawn from the
  // stream. Throws BugError for a vocabulary without merges.
  virtual std::vector<Token> encode_with_dropout(std::string_view line,
                                                 double dropout,
                                                 const RandomStream& stream) const;
  // Symbol indices as a line a person reads: <s> and </s> are skipped, <unk> stays visible (to a
  // metric it is a wrong word).
  virtual std::string join(const std::vector<Token>& ids) const = 0;
  // Returns whether symbols may be parts of words (sub-words or characters), which are shown joined to words.
  virtual bool has_pieces() const { return false; }
  // For each of these symbols, none of them </s>: the index of the word of join that it is part of. Without pieces,
  // each is a word.
  std::vector<Index> word_of_pieces(std::span<const Token> ids) const;
  // For each of the symbols of split(line): the index of the whitespace-separated word.
  std::vector<Index> word_of(std::string_view line) const { return words_of(split(line)); }
  // Returns whether kSpaceMark means a space, so that text with this character would be changed.
  virtual bool marks_spaces() const { return false; }
  // Returns whether each symbol is a word of the text.
  bool has_words() const { return !has_pieces() && !marks_spaces(); }
  // Printable text that holds everything needed to make it again; see load_vocabulary.
  virtual std::string serialize() const = 0;

  std::vector<Token> encode(std::string_view line) const;  // the indices of split(line)

 protected:
  virtual std::vector<Index> words_of(const std::vector<std::string>& symbols) const;
};

// [symbols of `from`]: the symbol of `to` with the same name, or kUnknown. <s> and </s> stay what they are.
std::vector<Token> same_symbols(const Vocabulary& from, const Vocabulary& to);

// The first line of every serialized vocabulary.
std::string vocabulary_header(std::string_view type);

// Throws DataError when the text is not what `serialize` wrote.
std::shared_ptr<const Vocabulary> load_vocabulary(std::string_view serialized);

// Vocabularies that are a table of symbols: words, characters, and the named symbols of synthetic
// tasks.
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

// A symbol is a whitespace-separated word. The type is "words" for words from text and "symbols"
// for a task's own names.
class WordVocabulary : public TableVocabulary {
 public:
  using TableVocabulary::TableVocabulary;
  std::vector<std::string> split(std::string_view line) const override;
  std::string join(const std::vector<Token>& ids) const override;
};

// A symbol is a number, the centre of a bin, and text that is a number has the nearest one. The type is "numbers".
class NumberVocabulary final : public WordVocabulary {
 public:
  // Throws DataError unless there are at least two, and they rise.
  explicit NumberVocabulary(const std::vector<std::string>& symbols);
  Token id(std::string_view symbol) const override;
  Token nearest(double number) const;  // of two the upper one; beyond the bins the outermost
  // The ends of the outermost bins.
  double low() const { return 1.5 * numbers_[0] - 0.5 * numbers_[1]; }
  double high() const { return 1.5 * numbers_.back() - 0.5 * numbers_[numbers_.size() - 2]; }

 private:
  std::vector<double> numbers_, edges_;
};

// A symbol is a code point; kSpaceMark separates words, and belongs to the preceding one. The type is
// "characters" for characters of words in text, and "signs" for a task's own characters.
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
