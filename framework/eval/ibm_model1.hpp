// IBM Model 1 (Brown et al. 1993): lexical translation probabilities t(target | source) by EM, and
// where they point. The baseline for attention's alignments; not a translator.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/alignments.hpp"

namespace softalign {

class IbmModel1 {
 public:
  // Trains from a uniform start, with iterations >= 1. With `null_word` every source sentence also
  // has an empty word, which generates target words that no source word explains. Throws DataError
  // if no pair has words on both sides.
  explicit IbmModel1(const Examples& pairs, Index iterations = 5, bool null_word = true);

  // The number of pairs of a source word, or the empty one, and a target word that are in one sentence pair.
  static Index cells(const Examples& pairs);
  // Bytes of a model, and additional bytes during training, from the numbers of sentence pairs and of their
  // words.
  static double bytes(Index cells);
  static double bytes_of_training(double pairs, double source, double target);

  // t(target | source); 0 for words that were never in the same pair.
  double probability(Token target, Token source) const;

  // t(target word | source word), normalised for each target word; a row of zeros if no source word of the
  // sentence occurred with it. Without the empty word and </s>.
  AlignmentMatrix weights(std::span<const Token> source, std::span<const Token> target) const;

 private:
  // The targets seen with source word s, ascending: [first_[s], first_[s + 1]) of both arrays.
  std::vector<Index> first_;
  std::vector<Token> targets_;
  std::vector<double> probabilities_;
};

}  // namespace softalign
