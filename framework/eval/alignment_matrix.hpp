// Attention weights of one sentence.
#pragma once

#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// [steps, positions]; steps end with </s>, positions end with the source's </s>.
struct AlignmentMatrix {
  Index steps = 0;
  Index positions = 0;
  std::vector<float> weights;
};

// Of a decoder with several heads: one of them.
struct HeadMatrix {
  Index layer = 0;
  Index head = 0;
  AlignmentMatrix matrix;
};

}  // namespace softalign
