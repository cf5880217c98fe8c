#include "framework/seq/score.hpp"

namespace softalign {

Index ScoreSizes::common() const {
  if (query == annotation) return query;
  throw SpecError(
      "model.attention.score: s · h needs a state as wide as the annotations, but the state has {} "
      "units and the "
      "annotations have {}; make the decoder {} units wide, or the annotations {} (a recurrent "
      "encoder with `project: {}`, or with `direction: forward` and `units: {}`), or use score "
      "general, s · W h",
      query,
      annotation,
      annotation,
      query,
      query,
      query);
}

}  // namespace softalign
