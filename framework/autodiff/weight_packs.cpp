#include "framework/autodiff/weight_packs.hpp"

namespace softalign {

PackedMatrix WeightPacks::pack(Matrix w) {
  std::lock_guard lock(mutex_);
  for (const PackedMatrix& pack : packs_)
    if (pack.matrix().data == w.data && pack.matrix().transposed == w.transposed) return pack;
  return packs_.emplace_back(w, arena_.array({PackedMatrix::size(w)}).data);
}

void WeightPacks::forget() {
  arena_.rewind({});
  packs_.clear();
}

}  // namespace softalign
