// What evaluation found, as arrays of the record. Names and dimensions here are the schema of /test
// and /alignments.
#pragma once

#include "framework/data/dataset.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/summary.hpp"
#include "framework/record/recorder.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

// The length bucket of every sentence of a split.
Buckets buckets_of(const Spec& spec, const Split& split);

// Symbols as words, and </s> behind them if it is to be one.
std::vector<std::string> words_of(std::span<const Token> ids,
                                  const Vocabulary& vocabulary,
                                  bool end);

// What the columns of a sentence's alignment matrix are called: its symbols and </s>, or where the
// encoder makes other annotations of them (Encoder::positions), "#0", "#1", ...
std::vector<std::string> source_words(const Model& model,
                                      std::span<const Token> source,
                                      const Vocabulary& vocabulary);

// Teacher-forced matrices of the first sentences of a split as /alignments/<module>, with words and
// known links.
void record_alignments(Recorder& recorder,
                       const Model& model,
                       const std::string& module,
                       Index update,
                       const Split& split,
                       const Dataset& data,
                       const std::vector<AlignmentMatrix>& matrices);

// The same of every head of every layer, as /alignments/<module>_layer1, ...; nothing of attentions that
// show no heads.
void record_heads(Recorder& recorder,
                  const Model& model,
                  const std::string& module,
                  Index update,
                  const Split& split,
                  const Dataset& data,
                  const EvaluatedSplit& result);

// The same for what a search found: target words are those of the hypotheses; links are unknown.
void record_searched_alignments(Recorder& recorder,
                                const Model& model,
                                const std::string& module,
                                Index update,
                                const Split& split,
                                const Dataset& data,
                                const EvaluatedSplit& result);

// /test: per-sentence statistics, hypotheses, totals as attributes, and /test/by_length. Returns
// the table.
MetricTable record_test(Recorder& recorder,
                        const Spec& spec,
                        const Dataset& data,
                        const EvaluatedSplit& result,
                        Index update);

// Pointing accuracy of IBM Model 1, trained on the training pairs, beside the model's own:
// /test/by_length pointing_accuracy_ibm_model1 and an attribute. Does nothing without known links.
void record_ibm_model1(Recorder& recorder, const Spec& spec, const Dataset& data);

}  // namespace softalign
