// One sentence with all that evaluation found out about it: what metrics count. What was not done is
// a null pointer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/eval/alignment_matrix.hpp"
#include "framework/eval/words.hpp"

namespace softalign {

class IbmModel1;

// The decoder is fed the reference, and predicts its tokens and </s>.
struct TeacherForced {
  double nll = 0;             // nats, summed over the target tokens and </s>
  std::vector<Token> target;  // [steps] the reference, </s> behind it
  std::vector<Token> best;    // [steps] the most probable token after those before it
  AlignmentMatrix attention;  // empty for a model that does not align
  std::vector<HeadMatrix> heads;
};

// The search's best hypothesis.
struct Decoded {
  std::vector<Token> tokens;  // without </s>
  std::string text;
  // The symbols that the vocabulary cuts the text into, whichever of them the search wrote it with; with
  // <unk>, which text cannot give, those that the search wrote.
  std::vector<Token> symbols;
  double score = 0;      // by which the search ranked it
  bool finished = true;  // false: the length limit came before </s>
};

struct EvaluatedSentence {
  Example example;
  const TeacherForced* forced = nullptr;
  const Decoded* decoded = nullptr;
  const AlignmentMatrix* attention = nullptr;  // teacher-forced
  RowAligns row_aligns = RowAligns::predicted;
  std::span<const Link> links = {};       // known, between positions of `attention`
  const WordGroups* words = nullptr;      // of attention's positions; null: all are words
  const IbmModel1* ibm_model1 = nullptr;  // trained on the training pairs
};

}  // namespace softalign
