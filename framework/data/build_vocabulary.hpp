// Builds a vocabulary from training text as a spec requests, or from a task's own symbols.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/sentencepiece.hpp"
#include "framework/data/vocabulary.hpp"

namespace softalign {

struct VocabularyOptions {
  std::string type = "words";
  Index size = 8000;
  std::optional<Index> min_count;
  std::string model = "unigram";
  std::optional<double> dropout;
  InputFile from;

  template <class V>
  void describe(V& v) {
    v("type", type, "what the symbols are", one_of("words", "characters", "sentencepiece"));
    v("size",
      size,
      "largest number of symbols on each side, including <unk> <s> </s>",
      between(kSpecials + 1, kMostSymbols));
    v("min_count",
      min_count,
      "words and characters that occur less often in the training text are unknown; null: 1",
      between(1, kMostSentences));
    if (min_count == 1) min_count.reset();  // 1 and null name the same run
    v("model", model, "segmentation algorithm of sentencepiece", one_of("unigram", "bpe"));
    v("dropout",
      dropout,
      "sentencepiece, model bpe: share of merges that are skipped in training sentences, drawn "
      "anew in every epoch (BPE-dropout, Provilkov et al. 2020: 0.1); null: none",
      fraction());
    v("from",
      from,
      "a record or a run's folder, to reuse its vocabularies; or a file for both sides: a "
      "sentencepiece model, or one word per line; null: built from the text",
      qualify_name());
    const bool made = from.path.empty();
    for (const char* name : {"type", "size", "min_count", "model"})
      v.inactive(name, !made, "from sets the vocabularies");
    v.check("type", type != "sentencepiece" || !sentencepiece_version().empty(), kNoSentencepiece);
    v.check("model",
            type == "sentencepiece" || model == VocabularyOptions().model,
            fmt::format("'{}' requires type sentencepiece, but the type is '{}'", model, type));
    v.inactive("min_count",
               min_count && type == "sentencepiece",
               "type sentencepiece segments rare words into known pieces");
    v.inactive("model", type != "sentencepiece", "only type sentencepiece segments words");
    v.check("dropout",
            !made || !dropout || (type == "sentencepiece" && model == "bpe"),
            "only type sentencepiece with model bpe merges pieces");
  }
};

// Builds a vocabulary from a stream of lines. Words and characters are sorted by decreasing count, ties bytewise,
// without symbols that are rarer than `min_count` and the rarest ones beyond `size`; pieces are in the order of
// their model. Symbols that do not occur in the lines are unknown.
class VocabularyBuilder {
 public:
  virtual ~VocabularyBuilder() = default;
  virtual void add(const std::string& line) = 0;
  // Call once. Throws DataError if no pieces can be trained on these lines, or no symbol is frequent enough.
  virtual std::shared_ptr<const Vocabulary> finish(const Progress& progress) = 0;
};
std::unique_ptr<VocabularyBuilder> vocabulary_builder(const VocabularyOptions& options);

std::shared_ptr<const Vocabulary> build_vocabulary(const VocabularyOptions& options,
                                                   const std::vector<std::string>& lines);

// Returns a vocabulary of named symbols in the given order; in a line of text, whitespace separates them.
std::shared_ptr<const Vocabulary> symbol_vocabulary(const std::vector<std::string>& symbols);

}  // namespace softalign
