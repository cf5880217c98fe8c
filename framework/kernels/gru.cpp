#include "framework/kernels/gru.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void gru_gates_forward(
    GruSizes n, const real* x, const real* hu, const real* previous, real* gates, real* reset) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* xr = x + row * n.gate_stride;
    const real* ur = hu + row * 2 * units;
    real* g = gates + row * n.gate_stride;
    for (Index u = 0; u < 2 * units; ++u) g[u] = vector_sigmoid(xr[u] + ur[u]);
    real* out = reset + row * units;
    if (previous == nullptr) {
      for (Index u = 0; u < units; ++u) out[u] = 0;
    } else {
      const real* h = previous + row * n.state_stride;
      for (Index u = 0; u < units; ++u) out[u] = g[units + u] * h[u];
    }
  }
}

SOFTALIGN_KERNEL void gru_output_forward(
    GruSizes n, const real* x, const real* cu, const real* previous, real* gates, real* output) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* xc = x + row * n.gate_stride + 2 * units;
    real* g = gates + row * n.gate_stride;
    real* c = g + 2 * units;
    real* out = output + row * n.state_stride;
    for (Index u = 0; u < units; ++u) c[u] = vector_tanh(xc[u] + cu[row * units + u]);
    if (previous == nullptr) {
      for (Index u = 0; u < units; ++u) out[u] = g[u] * c[u];
    } else {
      const real* h = previous + row * n.state_stride;
      for (Index u = 0; u < units; ++u) out[u] = (1 - g[u]) * h[u] + g[u] * c[u];
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
    const real* h = previous == nullptr ? nullptr : previous + row * n.state_stride;
    real* dg = dgates + row * n.gate_stride;
    real* dp = dprevious + row * units;
    for (Index u = 0; u < units; ++u) {
      const real state = h == nullptr ? real{0} : h[u];
      dg[u] = d[u] * (c[u] - state) * z[u] * (1 - z[u]);
      dg[2 * units + u] = d[u] * z[u] * (1 - c[u] * c[u]);
      dp[u] = d[u] * (1 - z[u]);
    }
  }
}

SOFTALIGN_KERNEL void gru_gates_backward(GruSizes n,
                                         const real* dreset,
                                         const real* gates,
                                         const real* previous,
                                         real* dgates,
                                         real* dprevious) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* d = dreset + row * units;
    const real* r = gates + row * n.gate_stride + units;
    const real* h = previous == nullptr ? nullptr : previous + row * n.state_stride;
    real* dg = dgates + row * n.gate_stride + units;
    real* dp = dprevious + row * units;
    for (Index u = 0; u < units; ++u) {
      const real state = h == nullptr ? real{0} : h[u];
      dg[u] = d[u] * state * r[u] * (1 - r[u]);
      dp[u] += d[u] * r[u];
    }
  }
}

}  // namespace softalign::kernels
