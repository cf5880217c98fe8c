#include "framework/kernels/cells.hpp"

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
      const real d = from_later[u] + h[u] * o[u] * (1 - t * t);  // gradient of c'
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
