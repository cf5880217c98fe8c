// Evaluates a model on a split, with teacher forcing and, if one is given, a search. The results are counts of each
// sentence, from which all metrics are computed. Batches are distributed over threads. The number of threads and the
// batch size change no result, because a row of a product has the same bits in any batch.
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
  // Teacher-forced weights by layer and head, of the first `keep` examples; empty unless requested, and for
  // attentions without heads.
  std::vector<std::vector<HeadMatrix>> forced_heads;
  std::vector<AlignmentMatrix> searched;  // of the best hypotheses; the first `keep` examples
  // Self-attention of the source by encoder layer and head, of the first `keep` examples; empty unless
  // requested.
  std::vector<std::vector<HeadMatrix>> self_attention;
  // Teacher-forced self-attention of the target by decoder layer and head, of the first `keep` examples. Each
  // target symbol, including </s>, has a row, and each symbol read, from <s> on, a column. Empty unless
  // requested.
  std::vector<std::vector<HeadMatrix>> decoder_self_attention;

  // Peak memory in bytes of a batch: on its tape, of results and of the second tape, and of packed weights; and
  // the bytes of all matrices above.
  double tape_bytes = 0;
  double found_bytes = 0;
  double pack_bytes = 0;
  double kept_bytes() const;
};

// Returns the alignment of a hypothesis; empty if the model has no attention.
AlignmentMatrix matrix_of(const Hypothesis& hypothesis);

// Returns whether a split has target sentences. A split without targets is only decoded: its results contain
// hypotheses, and all metrics are undefined.
bool has_references(const Split& split);

struct EvaluationRequest {
  const Search* search = nullptr;         // null: teacher-forced only
  const Vocabulary* source = nullptr;     // null: alignments are between symbols, not words
  const IbmModel1* ibm_model1 = nullptr;  // null: the baseline is not measured
  const UnknownWords* unknown = nullptr;  // null: <unk> is not replaced
  std::vector<NamedMetric> metrics = default_metrics();
  RowAligns row_aligns = RowAligns::predicted;
  Index batch = 64;                     // sentences per batch
  Index keep = 0;                       // number of examples whose matrices are kept
  bool heads = false;                   // keep the matrices of single heads, too
  bool self_attention = false;          // keep the matrices of an encoder that attends(), too
  bool decoder_self_attention = false;  // keep the matrices of a decoder that attends(), too
  std::function<void(Index done, Index total)>
      progress;                // in sentences; called from one thread at a time
  std::function<bool()> stop;  // called between batches; true: throws Interrupted
  // The ranks that evaluate together: each takes a share of the batches, and the first one gets all results. The
  // evaluation is collective, even if it throws.
  Ranks* ranks = &only_rank();
};

// Teacher forcing takes one pass for a single model, and goes step by step for an ensemble (eval/search.hpp).
EvaluatedSplit evaluate(const Scorer& scorer,
                        const Split& split,
                        const Vocabulary& target,
                        const EvaluationRequest& request,
                        Workers& workers);

}  // namespace softalign
