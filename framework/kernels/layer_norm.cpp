#include "framework/kernels/layer_norm.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void layer_norm_forward(LayerNormSizes n,
                                         const real* x,
                                         const real* gain,
                                         const real* bias,
                                         real* y,
                                         real* mean,
                                         real* scale) {
  const real size = static_cast<real>(n.size);
  for (Index row = 0; row < n.rows; ++row, x += n.size, y += n.size) {
    const real m = lane_sum(n.size, [=](Index d) { return x[d]; }) / size;
    const real variance = lane_sum(n.size, [=](Index d) { return (x[d] - m) * (x[d] - m); }) / size;
    const real s = 1 / std::sqrt(variance + n.epsilon);
    for (Index d = 0; d < n.size; ++d) y[d] = gain[d] * ((x[d] - m) * s) + bias[d];
    mean[row] = m;
    scale[row] = s;
  }
}

// With x^ = (x - mean) s and g = gain dy: dx = s (g - mean(g) - x^ mean(g x^)).
SOFTALIGN_KERNEL void layer_norm_backward(LayerNormSizes n,
                                          const real* x,
                                          const real* gain,
                                          const real* mean,
                                          const real* scale,
                                          const real* dy,
                                          real* dx,
                                          SentencesOfRows sentences,
                                          real* dgain,
                                          real* dbias) {
  const real size = static_cast<real>(n.size);
  for (Index row = 0; row < n.rows; ++row, x += n.size, dy += n.size) {
    const real m = mean[row], s = scale[row];
    const Index of_sentence = sentences.of(row) * n.size;
    if (dgain != nullptr)
      for (Index d = 0; d < n.size; ++d) dgain[of_sentence + d] += dy[d] * ((x[d] - m) * s);
    if (dbias != nullptr)
      for (Index d = 0; d < n.size; ++d) dbias[of_sentence + d] += dy[d];
    if (dx == nullptr) continue;
    const real level = lane_sum(n.size, [=](Index d) { return gain[d] * dy[d]; }) / size;
    const real slope =
        lane_sum(n.size, [=](Index d) { return gain[d] * dy[d] * ((x[d] - m) * s); }) / size;
    for (Index d = 0; d < n.size; ++d)
      dx[row * n.size + d] += s * (gain[d] * dy[d] - level - (x[d] - m) * s * slope);
  }
}

}  // namespace softalign::kernels
