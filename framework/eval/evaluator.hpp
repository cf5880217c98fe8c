// Runs a model over a split: teacher-forced, and with a search where one is given; counts of each
// sentence that every metric is computed from. Batches are spread over threads; neither
// they nor the batch size change a result, for a row of a product has the same bits in any company.
#pragma once

#include <functional>
#include <vector>

#include "framework/base/ranks.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/counts.hpp"
#include "framework/eval/metric.hpp"
#include "framework/eval/search.hpp"
#include "framework/eval/unknown_words.hpp"

namespace softalign {

struct EvaluatedSplit {
  CountTable counts;                    // a row for each example, in order
  std::vector<Decoded> decoded;         // for each example; empty without a search
  std::vector<AlignmentMatrix> forced;  // teacher-forced; the first `keep` examples
  // Teacher-forced, by layer and head, of the first `keep` examples; empty unless requested, and for
  // attentions without heads.
  std::vector<std::vector<HeadMatrix>> forced_heads;
  std::vector<AlignmentMatrix> searched;  // of the search's best hypotheses; the first `keep`
  // Self-attention of the source, by the encoder's layer and head, of the first `keep` examples; empty
  // unless requested.
  std::vector<std::vector<HeadMatrix>> self_attention;
  // Self-attention of the target, teacher-forced, by the decoder's layer and head, of the first `keep`
  // examples: a row for each symbol of the target with </s>, a column for each symbol read, from <s> on;
  // empty unless requested.
  std::vector<std::vector<HeadMatrix>> decoder_self_attention;

  // Memory used: largest bytes of a batch on its tape; of search results, there and on the second tape; of
  // packed weights; bytes of the matrices above.
  double tape_bytes = 0;
  double found_bytes = 0;
  double pack_bytes = 0;
  double kept_bytes() const;
};

// The alignment of a hypothesis; empty where the model has no attention.
AlignmentMatrix matrix_of(const Hypothesis& hypothesis);

// Returns whether there are target sentences. A split without any is decoded, and its results hold hypotheses
// alone: all metrics are undefined.
bool has_references(const Split& split);

struct EvaluationRequest {
  const Search* search = nullptr;         // null: teacher-forced only
  const Vocabulary* source = nullptr;     // null: alignments are counted by symbols, not by words
  const IbmModel1* ibm_model1 = nullptr;  // null: its baseline is not measured
  const UnknownWords* unknown = nullptr;  // null: an <unk> of the search stays one
  std::vector<NamedMetric> metrics = default_metrics();
  RowAligns row_aligns = RowAligns::predicted;
  Index batch = 64;                     // sentences side by side
  Index keep = 0;                       // examples whose matrices are kept
  bool heads = false;                   // also keeps those of single heads
  bool self_attention = false;          // also keeps those of an encoder that attends()
  bool decoder_self_attention = false;  // also keeps those of a decoder that attends()
  std::function<void(Index done, Index total)>
      progress;                // sentences; called from one thread at a time
  std::function<bool()> stop;  // called between batches; true: throws Interrupted
  // Evaluate together, each some of the batches; the first rank has all results. Collective, also where it throws.
  Ranks* ranks = &only_rank();
};

// An ensemble is teacher-forced step by step (eval/search.hpp), a model in one pass.
EvaluatedSplit evaluate(const Scorer& scorer,
                        const Split& split,
                        const Vocabulary& target,
                        const EvaluationRequest& request,
                        Workers& workers);

}  // namespace softalign
