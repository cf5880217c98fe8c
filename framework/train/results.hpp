// The results of evaluation as arrays of the record. Names and dimensions here are the schema of /test
// and /alignments.
#pragma once

#include "framework/data/dataset.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/recorder.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// The metrics of a split by length, as the spec measures. source: the vocabulary of its sources; null: frames.
MetricTable metrics_of(const Spec& spec,
                       const Split& split,
                       const Vocabulary* source,
                       const CountTable& counts);

// The prefix of modules, one a layer, in which both sides are the source's symbols.
inline constexpr std::string_view kOfEncoder = "encoder_layer";
inline constexpr std::string_view kOfDecoder = "decoder_layer";

// The names of symbols, followed by </s> if there are more positions. text: what is read or written, whose words stand
// in place of <unk>; "": none, as where symbols are no words.
std::vector<std::string> symbols_of(const Vocabulary& vocabulary,
                                    std::span<const Token> ids,
                                    Index positions,
                                    std::string_view text = "");

// The symbols that an alignment is between, without </s>. source: null: frames. The texts name what is <unk> (symbols_of).
struct AlignedSentence {
  const Vocabulary* source;
  std::span<const Token> source_tokens;
  const Vocabulary& target;
  std::span<const Token> target_tokens;
  std::vector<Link> links = {};  // known, between the matrix's positions
  std::string_view source_text = "", target_text = "";
};

// A matrix as recorded: between symbols; and if some of them are pieces of words, also between words, in module
// "words_<module>" (eval/alignments.hpp). `named`: module, update, sentence and head. Columns are named by source
// symbols and </s>, or "#0", "#1", ... if the source is frames or the encoder's annotations are not symbols
// (Encoder::positions).
std::vector<Alignment> recorded_alignments(const Alignment& named,
                                           const AlignedSentence& sentence,
                                           const AlignmentMatrix& matrix);

// Records the results of a model on a split at one update.
class ResultRecorder {
 public:
  ResultRecorder(
      Recorder& recorder, const Model& model, const Dataset& data, const Split& split, Index update)
      : recorder_(recorder), model_(model), data_(data), split_(split), update_(update) {}

  // Teacher-forced matrices of the first sentences as /alignments/<module>, with words and gold
  // links.
  void alignments(const std::string& module, const EvaluatedSplit& result) const;
  // Matrices of every head of every layer, as /alignments/<module>_layer1, ...; nothing of attentions that show
  // no heads.
  void heads(const std::string& module, const EvaluatedSplit& result) const;
  // Records the self-attention of the source as /alignments/encoder_layer1, ...: both sides are its symbols.
  void self_attention(const EvaluatedSplit& result) const;
  // Records the self-attention of the target as /alignments/decoder_layer1, ...: rows are the target's symbols with </s>,
  // columns the symbols read, from <s> on.
  void decoder_self_attention(const EvaluatedSplit& result) const;
  // Matrices of the search's output: target words are those of the hypotheses; there are no gold
  // links.
  void searched_alignments(const std::string& module, const EvaluatedSplit& result) const;
  // /test: counts of sentences, hypotheses, totals as attributes, and /test/by_length. Returns the
  // table.
  MetricTable test(const Spec& spec, const EvaluatedSplit& result) const;

 private:
  // A text that names what is <unk>, of a model that copies: others do not tell one unknown word from another.
  std::string_view copied(std::string_view text) const {
    return model_.batch_parts().copies != nullptr ? text : "";
  }
  void forced(const std::string& module,
              std::size_t sentence,
              Index head,
              const AlignmentMatrix& matrix) const;
  void record(const Alignment& named,
              const AlignedSentence& sentence,
              const AlignmentMatrix& matrix) const;
  void sentences(const EvaluatedSplit& result, const Spec& spec) const;
  void counts(const CountTable& counts) const;
  void table(const MetricTable& table) const;

  Recorder& recorder_;
  const Model& model_;
  const Dataset& data_;
  const Split& split_;
  Index update_;
};

}  // namespace softalign
