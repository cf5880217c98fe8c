// A learned vector for each position of a sentence (Gehring et al. 2016, section 2.2), where nothing
// else tells an encoder which position it looks at.
#pragma once

#include "framework/autodiff/parameters.hpp"
#include "framework/nn/initializers.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {

class LearnedPositions {
 public:
  LearnedPositions(const Parameters& p, std::string_view name, Index positions, Index size)
      : table_((p / name).add("P", {positions, size}, init::normal(0.1))) {}

  // x [B,S,D] + P; positions beyond the table share its last row
  Var operator()(Var x) const { return add_positions(1, x, x.tape().parameter(*table_), 0); }

 private:
  Parameter* table_;
};

}  // namespace softalign
