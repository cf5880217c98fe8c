// The results of evaluation as arrays of the record. Names and dimensions here are the schema of /test
// and /alignments.
#pragma once

#include "framework/data/dataset.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/metric.hpp"
#include "framework/record/recorder.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// Returns the metrics of a split that the spec measures, by length. source: the source vocabulary; null: frames.
MetricTable metrics_of(const Spec& spec,
                       const Split& split,
                       const Vocabulary* source,
                       const CountTable& counts);

// Prefixes of the self-attention modules, one per layer, of the encoder and of the decoder.
inline constexpr std::string_view kOfEncoder = "encoder_layer";
inline constexpr std::string_view kOfDecoder = "decoder_layer";

// Returns the names of symbols, followed by </s> if there are more positions. text: the sentence, whose words replace
// <unk> if symbols are words; "": <unk> stays.
std::vector<std::string> symbols_of(const Vocabulary& vocabulary,
                                    std::span<const Token> ids,
                                    Index positions,
                                    std::string_view text = "");

// The two sides of an alignment, without </s>. source: null: frames. The texts have the words for <unk> (symbols_of).
struct AlignedSentence {
  const Vocabulary* source;
  std::span<const Token> source_tokens;
  const Vocabulary& target;
  std::span<const Token> target_tokens;
  std::vector<Link> links = {};  // gold links between the matrix's positions
  std::string_view source_text = "", target_text = "";
};

// Returns a matrix as recorded: between symbols; and if some of them are pieces of words, also between words, in
// module "words_<module>" (eval/alignments.hpp). `named` gives module, update, sentence and head. Columns are named
// by source symbols and </s>, or "#0", "#1", ... if the source is frames or the encoder's annotations are not
// symbols (Encoder::positions).
std::vector<Alignment> recorded_alignments(const Alignment& named,
                                           const AlignedSentence& sentence,
                                           const AlignmentMatrix& matrix);

// Records the results of a model on a split at one update.
class ResultRecorder {
 public:
  ResultRecorder(
      Recorder& recorder, const Model& model, const Dataset& data, const Split& split, Index update)
      : recorder_(recorder), model_(model), data_(data), split_(split), update_(update) {}

  // Records the teacher-forced matrices of the first sentences as /alignments/<module>, with words and
  // gold links.
  void alignments(const std::string& module, const EvaluatedSplit& result) const;
  // Records the matrix of every head of every layer as /alignments/<module>_layer1, ...; nothing for
  // attentions without heads.
  void heads(const std::string& module, const EvaluatedSplit& result) const;
  // Records the self-attention of the source as /alignments/encoder_layer1, ...: both sides are its symbols.
  void self_attention(const EvaluatedSplit& result) const;
  // Records the self-attention of the target as /alignments/decoder_layer1, ...: rows are the target's symbols with </s>,
  // columns the symbols read, from <s> on.
  void decoder_self_attention(const EvaluatedSplit& result) const;
  // Records the matrices of the search's outputs: target words are those of the hypotheses, without
  // gold links.
  void searched_alignments(const std::string& module, const EvaluatedSplit& result) const;
  // Records /test (counts of sentences, hypotheses, and totals as attributes) and /test/by_length.
  // Returns the table.
  MetricTable test(const Spec& spec, const EvaluatedSplit& result) const;

 private:
  // Returns the text for a model that copies; "" for others, which do not distinguish unknown words.
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
