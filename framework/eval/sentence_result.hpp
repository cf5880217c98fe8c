// What evaluation keeps of one sentence: enough for every metric, over any subset of a test set,
// without decoding again. No tensors; alignment matrices are kept elsewhere.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/eval/bleu.hpp"
#include "framework/eval/chrf.hpp"

namespace softalign {

// Hits out of a total; sums over sentences are added part by part.
struct Count {
  Index hits = 0;
  Index total = 0;
  Count& operator+=(const Count& other) {
    hits += other.hits;
    total += other.total;
    return *this;
  }
};

struct SentenceResult {
  Index source_length = 0;  // tokens, without </s>

  // Teacher-forced: the decoder is fed the reference, and predicts its tokens and </s>.
  double nll = 0;        // nats, summed over the target tokens
  Count teacher_forced;  // the most probable token is the reference's, of target tokens with </s>

  // Free-running: the search's best hypothesis against the reference.
  bool searched = false;          // false: no search was run, or there is no reference; then what
                                  // follows is empty, but for a hypothesis and its score
  std::vector<Token> hypothesis;  // without </s>
  std::string hypothesis_text;
  std::string reference_text;
  double model_score = 0;  // the score by which the search ranked the hypothesis
  bool exact = false;      // hypothesis and reference are equal; see is_exact
  Count free_running;      // see position_matches
  BleuStats bleu{};
  ChrfStats chrf{};

  // Attention, teacher-forced. All zero for a model that has none.
  Count pointing;                // see point_count
  double attention_entropy = 0;  // nats, summed over the target steps
  Index attention_steps = 0;
};

// Positions at which both have the same token, of the longer one's length: what is missing or too
// much is wrong. <unk> matches nothing, not even itself: an unknown word is no answer.
Count position_matches(const std::vector<Token>& hypothesis, std::span<const Token> reference);

// Equal token by token, with the same rule for <unk>.
bool is_exact(const std::vector<Token>& hypothesis, std::span<const Token> reference);

}  // namespace softalign
