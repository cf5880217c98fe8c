#include "framework/kernels/gru.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void gru_gates_forward(GruSizes n,
                                        const real* previous,
                                        real* gates,
                                        real* reset) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    real* g = gates + row * n.gate_stride;
    for (Index u = 0; u < 2 * units; ++u) g[u] = vector_sigmoid(g[u]);
    if (previous == nullptr) continue;
    const real* h = previous + row * n.state_stride;
    real* out = reset + row * units;
    for (Index u = 0; u < units; ++u) out[u] = g[units + u] * h[u];
  }
}

SOFTALIGN_KERNEL void gru_output_forward(GruSizes n,
                                         const real* previous,
                                         real* gates,
                                         real* output) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    real* z = gates + row * n.gate_stride;
    real* c = z + 2 * units;
    real* out = output + row * n.state_stride;
    for (Index u = 0; u < units; ++u) c[u] = vector_tanh(c[u]);
    if (previous == nullptr) {
      for (Index u = 0; u < units; ++u) out[u] = z[u] * c[u];
    } else {
      const real* h = previous + row * n.state_stride;
      for (Index u = 0; u < units; ++u) out[u] = (1 - z[u]) * h[u] + z[u] * c[u];
    }
  }
}

SOFTALIGN_KERNEL void gru_output_backward(GruSizes n,
                                          const real* dh,
                                          const real* gates,
                                          const real* previous,
                                          real* dgates,
                                          real* dprevious) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* d = dh + row * units;
    const real* z = gates + row * n.gate_stride;
    const real* c = z + 2 * units;
    const real* h = previous + row * n.state_stride;
    real* dz = dgates + row * n.gate_stride;
    real* dc = dz + 2 * units;
    real* dp = dprevious + row * units;
    SOFTALIGN_NO_OVERLAP
    for (Index u = 0; u < units; ++u) {
      dz[u] = d[u] * (c[u] - h[u]) * z[u] * (1 - z[u]);
      dc[u] = d[u] * z[u] * (1 - c[u] * c[u]);
      dp[u] += d[u] * (1 - z[u]);
    }
  }
}

SOFTALIGN_KERNEL void gru_gates_backward(GruSizes n,
                                         const real* dreset,
                                         const real* previous,
                                         real* gates,
                                         real* dgates,
                                         real* dprevious) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* d = dreset + row * units;
    const real* h = previous + row * n.state_stride;
    real* r = gates + row * n.gate_stride + units;
    real* dr = dgates + row * n.gate_stride + units;
    real* dp = dprevious + row * units;
    SOFTALIGN_NO_OVERLAP
    for (Index u = 0; u < units; ++u) {
      dr[u] = d[u] * h[u] * r[u] * (1 - r[u]);
      dp[u] += d[u] * r[u];
      r[u] *= h[u];
    }
  }
}

SOFTALIGN_KERNEL void gru_first_backward(GruSizes n,
                                         const real* dh,
                                         const real* gates,
                                         real* dgates) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* d = dh + row * units;
    const real* z = gates + row * n.gate_stride;
    const real* c = z + 2 * units;
    real* dz = dgates + row * n.gate_stride;
    SOFTALIGN_NO_OVERLAP
    for (Index u = 0; u < units; ++u) {
      dz[u] = d[u] * c[u] * z[u] * (1 - z[u]);
      dz[units + u] = 0;
      dz[2 * units + u] = d[u] * z[u] * (1 - c[u] * c[u]);
    }
  }
}

}  // namespace softalign::kernels
