#include "framework/autodiff/weight_transposes.hpp"

#include "framework/kernels/transpose.hpp"

namespace softalign {

Matrix WeightTransposes::transpose(Matrix w, Index rows) {
  constexpr Index kFewRows = 64;  // below these, transposing in the product costs more than a copy
  if (rows >= kFewRows) return w.transpose();
  std::lock_guard lock(mutex_);
  for (const Copy& copy : copies_)
    if (copy.of == w.data) return {copy.transposed, w.columns, w.rows};
  real* to = arena_.array({w.columns, w.rows}).data;
  softalign::transpose(w, to, w.rows);
  copies_.push_back({w.data, to});
  return {to, w.columns, w.rows};
}

void WeightTransposes::forget() {
  arena_.rewind({});
  copies_.clear();
}

}  // namespace softalign
