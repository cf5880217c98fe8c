// Replaces each <unk> of an output by the source word that the attention points at when it is written, or by the entry
// of this word in a lexicon (Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation"; Jean
// et al. 2015, section 3.3). Alternatively, forbids searches to write <unk>.
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
  // source: null for frames. rows: the symbol that a row of weights belongs to. Throws SpecError, with the option
  // "evaluate.unknown_words.by", for frames, and if target symbols are not words, because an <unk> is then a part of a
  // word, mostly a rare character. Source symbols may be parts of words. Throws DataError for an invalid lexicon.
  UnknownWords(const UnknownWordsOptions& options,
               const Vocabulary* source,
               const Vocabulary& target,
               RowAligns rows);

  bool forbids() const { return options_.forbids(); }

  // Adds to `replaced` a word for each <unk> without one, if there is a source word. line: the text of the source.
  void replace(Hypothesis& hypothesis, std::string_view line) const;

 private:
  void read_lexicon();

  UnknownWordsOptions options_;
  const Vocabulary* source_;
  RowAligns rows_;
  std::map<std::string, std::string, std::less<>> lexicon_;
};

}  // namespace softalign
