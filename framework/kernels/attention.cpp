#include "framework/kernels/attention.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/vector_math.hpp"
#include "framework/kernels/work.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void additive_energy_forward(
    AttentionSizes z, const real* keys, const real* query, SharedRow shared, real* energies) {
  work_of_thread().multiplications += z.valid() * z.units;
  const Index units = z.units;
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * units;
    const real* v = shared.data + b * shared.of_sentence;
    for (Index s = 0; s < z.positions; ++s) {
      const real* k = keys + (b * z.positions + s) * units;
      energies[b * z.positions + s] =
          s >= z.begin(b) && s < z.lengths[b]
              ? lane_sum(units, [=](Index u) { return v[u] * vector_tanh(q[u] + k[u]); })
              : real{0};
    }
  }
}

SOFTALIGN_KERNEL void additive_energy_backward(AttentionSizes z,
                                               const real* keys,
                                               const real* query,
                                               SharedRow shared,
                                               const real* denergies,
                                               real* dkeys,
                                               real* dquery,
                                               real* dv,
                                               real* scratch) {
  const Index units = z.units;
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * units;
    const real* v = shared.data + b * shared.of_sentence;
    real* to_v = dv != nullptr ? dv + b * units : scratch;
    real* to_query = dquery != nullptr ? dquery + b * units : scratch + units;
    for (Index s = z.begin(b); s < z.lengths[b]; ++s) {
      const Index row = b * z.positions + s;
      const real* k = keys + row * units;
      real* to_key = dkeys != nullptr ? dkeys + row * units : scratch + 2 * units;
      const real de = denergies[row];
      if (de == 0) continue;
      SOFTALIGN_NO_OVERLAP
      for (Index u = 0; u < units; ++u) {
        const real t = vector_tanh(q[u] + k[u]);
        const real d = de * v[u] * (1 - t * t);
        to_v[u] += de * t;
        to_key[u] += d;
        to_query[u] += d;
      }
    }
  }
}

SOFTALIGN_KERNEL void batched_dot(
    AttentionSizes z, const real* keys, const real* query, bool add, real* energies) {
  work_of_thread().multiplications += z.valid() * z.units;
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * z.units;
    real* e = energies + b * z.positions;
    if (!add) std::fill_n(e, z.begin(b), real{0});
    for (Index s = z.begin(b); s < z.lengths[b]; ++s) {
      const real* k = keys + (b * z.positions + s) * z.units;
      const real sum = lane_sum(z.units, [=](Index d) { return k[d] * q[d]; });
      e[s] = add ? e[s] + sum : sum;
    }
    if (!add) std::fill(e + z.lengths[b], e + z.positions, real{0});
  }
}

SOFTALIGN_KERNEL void softmax_forward(AttentionSizes z, const real* energies, real* weights) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index begin = z.begin(b), length = z.lengths[b] - begin;
    const real* e = energies + b * z.positions + begin;
    real* w = weights + b * z.positions + begin;
    std::fill(w - begin, w, real{0});
    real largest = length > 0 ? e[0] : real{0};
    for (Index s = 1; s < length; ++s) largest = std::max(largest, e[s]);
    for (Index s = 0; s < length; ++s) w[s] = vector_exp(e[s] - largest);
    const real sum = lane_sum(length, [=](Index s) { return w[s]; });
    for (Index s = 0; s < length; ++s) w[s] /= sum;
    std::fill(w + length, w + z.positions - begin, real{0});
  }
}

SOFTALIGN_KERNEL void softmax_backward(AttentionSizes z,
                                       const real* weights,
                                       const real* dweights,
                                       real* denergies) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions + z.begin(b), length = z.lengths[b] - z.begin(b);
    const real* w = weights + row;
    const real* dw = dweights + row;
    real* de = denergies + row;
    const real mean = lane_sum(length, [=](Index s) { return w[s] * dw[s]; });
    for (Index s = 0; s < length; ++s) de[s] += w[s] * (dw[s] - mean);
  }
}

SOFTALIGN_KERNEL void weighted_sum(
    AttentionSizes z, const real* weights, const real* values, bool add, real* context) {
  const Index units = z.units;
  Index read = 0;
  for (Index b = 0; b < z.sentences; ++b) {
    real* c = context + b * units;
    if (!add) std::fill_n(c, units, real{0});
    for (Index s = 0; s < z.lengths[b]; ++s) {
      const real w = weights[b * z.positions + s];
      if (w == 0) continue;
      ++read;
      const real* h = values + (b * z.positions + s) * units;
      for (Index d = 0; d < units; ++d) c[d] += w * h[d];
    }
  }
  work_of_thread().multiplications += read * units;
}

}  // namespace softalign::kernels
