// IBM Model 1 (Brown et al. 1993): lexical translation probabilities t(target | source) by EM, and
// the alignments that they give. The baseline for attention alignments; it does not translate.
#pragma once

#include <span>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/data/dataset.hpp"
#include "framework/eval/alignments.hpp"

namespace softalign {

class IbmModel1 {
 public:
  // Trains from a uniform start, with iterations >= 1. With `null_word`, every source sentence also
  // has an empty word, which generates target words that no source word explains. Throws DataError
  // if no pair has words on both sides.
  explicit IbmModel1(const Examples& pairs, Index iterations = 5, bool null_word = true);

  // Returns the number of distinct pairs of a source word, or the empty word, and a target word that co-occur in
  // a sentence pair.
  static Index cells(const Examples& pairs);
  // Return the bytes of a model, and the additional bytes during training, from the numbers of sentence pairs and
  // of their words.
  static double bytes(Index cells);
  static double bytes_of_training(double pairs, double source, double target);

  // Returns t(target | source); 0 for words that were never in the same pair.
  double probability(Token target, Token source) const;

  // Returns t(target word | source word), normalised for each target word, without the empty word and </s>. The
  // row of a target word that occurred with no source word of the sentence is 0.
  AlignmentMatrix weights(std::span<const Token> source, std::span<const Token> target) const;

 private:
  // Entries [first_[s], first_[s + 1]) of both arrays: the targets that occurred with source word s, ascending.
  std::vector<Index> first_;
  std::vector<Token> targets_;
  std::vector<double> probabilities_;
};

}  // namespace softalign
