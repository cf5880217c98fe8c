#include "framework/kernels/lstm.hpp"

#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void lstm_forward(
    LstmSizes n, const real* previous_c, real* gates, real* output, real* output_c) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    real* i = gates + row * n.gate_stride;
    real* g = i + 2 * units;
    real* o = i + 3 * units;
    const real* f = i + units;
    real* c = output_c + row * n.state_stride;
    real* h = output + row * n.state_stride;
    for (Index u = 0; u < 2 * units; ++u) i[u] = vector_sigmoid(i[u]);
    for (Index u = 0; u < units; ++u) g[u] = vector_tanh(g[u]);
    for (Index u = 0; u < units; ++u) o[u] = vector_sigmoid(o[u]);
    if (previous_c == nullptr) {
      for (Index u = 0; u < units; ++u) c[u] = i[u] * g[u];
    } else {
      const real* before = previous_c + row * n.previous_stride;
      for (Index u = 0; u < units; ++u) c[u] = f[u] * before[u] + i[u] * g[u];
    }
    for (Index u = 0; u < units; ++u) h[u] = o[u] * vector_tanh(c[u]);
  }
}

SOFTALIGN_KERNEL void lstm_backward(LstmSizes n,
                                    const real* dh,
                                    const real* dc,
                                    const real* gates,
                                    const real* previous_c,
                                    const real* output_c,
                                    real* dgates,
                                    real* dprevious_c) {
  const Index units = n.units;
  for (Index row = 0; row < n.rows; ++row) {
    const real* h = dh + row * units;
    const real* i = gates + row * n.gate_stride;
    const real* f = i + units;
    const real* g = i + 2 * units;
    const real* o = i + 3 * units;
    const real* c = output_c + row * n.state_stride;
    const real* from_later = dc + row * units;
    real* di = dgates + row * n.gate_stride;
    real* df = di + units;
    real* dg = di + 2 * units;
    real* d_o = di + 3 * units;
    SOFTALIGN_NO_OVERLAP
    for (Index u = 0; u < units; ++u) {
      const real t = vector_tanh(c[u]);
      const real d = from_later[u] + h[u] * o[u] * (1 - t * t);  // of c'
      di[u] = d * g[u] * i[u] * (1 - i[u]);
      dg[u] = d * i[u] * (1 - g[u] * g[u]);
      d_o[u] = h[u] * t * o[u] * (1 - o[u]);
      df[u] = d;  // finished below
    }
    if (previous_c == nullptr) {
      for (Index u = 0; u < units; ++u) df[u] = 0;
    } else {
      const real* before = previous_c + row * n.previous_stride;
      real* dp = dprevious_c + row * units;
      for (Index u = 0; u < units; ++u) {
        dp[u] += df[u] * f[u];
        df[u] *= before[u] * f[u] * (1 - f[u]);
      }
    }
  }
}

}  // namespace softalign::kernels
