// What stands in an output for a word that the target vocabulary lacks: the source word that the attention points
// at while <unk> is written, or its entry in a lexicon (Luong et al. 2015, "Addressing the Rare Word
// Problem in Neural Machine Translation"; Jean et al. 2015, section 3.3), or nothing, because searches never write <unk>.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "framework/config/options.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/alignments.hpp"
#include "framework/eval/search.hpp"

namespace softalign {

struct UnknownWordsOptions {
  std::string by = "attention";
  InputFile lexicon;

  bool forbids() const { return by == "forbid"; }

  template <class V>
  void describe(V& v) {
    v("by",
      by,
      "attention: an <unk> becomes the source word with the largest weight (Luong et al. 2015); "
      "lexicon: its entry there, or the word itself (Jean et al. 2015); forbid: <unk> is not "
      "written",
      qualify_name(one_of("attention", "lexicon", "forbid")));
    v("lexicon",
      lexicon,
      "lines of a source word, a tab and its translation; the first one counts");
    const bool given = !lexicon.path.empty();
    v.check("by", by != "lexicon" || given, "lexicon needs a file: unknown_words.lexicon=FILE");
    v.check("lexicon",
            by == "lexicon" || !given,
            "only unknown_words.by=lexicon reads it; set that, or remove the lexicon");
  }
};

class UnknownWords {
 public:
  // source: null for frames; rows: the symbol that a row of weights belongs to. Throws SpecError, at
  // "evaluate.unknown_words.by", where symbols are not words: an <unk> is a part of one then, mostly a rare
  // character; sources may be pieces of words. Throws DataError for the lexicon.
  UnknownWords(const UnknownWordsOptions& options,
               const Vocabulary* source,
               const Vocabulary& target,
               RowAligns rows);

  bool forbids() const { return options_.forbids(); }

  // Fills `replaced` with a word for each <unk> that has none yet, where there is a source word. line: the source's text.
  void replace(Hypothesis& hypothesis, std::string_view line) const;

 private:
  void read_lexicon();

  UnknownWordsOptions options_;
  const Vocabulary* source_;
  RowAligns rows_;
  std::map<std::string, std::string, std::less<>> lexicon_;
};

}  // namespace softalign
