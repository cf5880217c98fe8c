// Attention weights of one sentence.
#pragma once

#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// [steps, positions]; steps end with </s>, positions end with the source's </s>.
struct AlignmentMatrix {
  Index steps = 0;
  Index positions = 0;
  std::vector<float> weights;
};

// Which target symbol a row stands for: the one that was predicted with it, or the one that was read at its step,
// the one before (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine Translation": naive and shifted
// attention).
enum class RowAligns { predicted, read };
inline RowAligns row_aligns_of(std::string_view name) {
  return name == "read" ? RowAligns::read : RowAligns::predicted;
}

// Of a decoder with several heads: one of them.
struct HeadMatrix {
  Index layer = 0;
  Index head = 0;
  AlignmentMatrix matrix;
};

}  // namespace softalign
