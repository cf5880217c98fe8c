#include "framework/kernels/gru_reset_after.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void gru_reset_after_forward(
    Index rows, Index units, const real* q, const real* previous, real* gates, real* output) {
  for (Index row = 0; row < rows; ++row) {
    real* g = gates + row * 3 * units;
    const real* p = q + row * 3 * units;
    for (Index u = 0; u < 2 * units; ++u) g[u] = vector_sigmoid(g[u] + p[u]);
    const real* r = g + units;
    const real* p_c = p + 2 * units;
    const real* h = previous + row * units;
    real* c = g + 2 * units;
    real* out = output + row * units;
    for (Index u = 0; u < units; ++u) c[u] = vector_tanh(c[u] + r[u] * p_c[u]);
    for (Index u = 0; u < units; ++u) out[u] = (1 - g[u]) * h[u] + g[u] * c[u];
  }
}

SOFTALIGN_KERNEL void gru_reset_after_backward(Index rows,
                                               Index units,
                                               const real* dh,
                                               const real* q,
                                               const real* previous,
                                               const real* gates,
                                               real* dgates,
                                               real* dq,
                                               real* dprevious) {
  for (Index row = 0; row < rows; ++row) {
    const real* d = dh + row * units;
    const real* z = gates + row * 3 * units;
    const real* r = z + units;
    const real* c = r + units;
    const real* p_c = q + (row * 3 + 2) * units;
    const real* h = previous + row * units;
    real* dz = dgates + row * 3 * units;
    real* dr = dz + units;
    real* dc = dr + units;
    SOFTALIGN_NO_OVERLAP
    for (Index u = 0; u < units; ++u) {
      dz[u] = d[u] * (c[u] - h[u]) * z[u] * (1 - z[u]);
      dc[u] = d[u] * z[u] * (1 - c[u] * c[u]);
      dr[u] = dc[u] * p_c[u] * r[u] * (1 - r[u]);
    }
    if (dq != nullptr) {
      real* out = dq + row * 3 * units;
      for (Index u = 0; u < 2 * units; ++u) out[u] += dz[u];
      for (Index u = 0; u < units; ++u) out[2 * units + u] += dc[u] * r[u];
    }
    if (dprevious != nullptr)
      for (Index u = 0; u < units; ++u) dprevious[row * units + u] += d[u] * (1 - z[u]);
  }
}

}  // namespace softalign::kernels
