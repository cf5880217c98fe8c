#include "framework/kernels/attention.hpp"

#include <algorithm>
#include <cmath>

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

void sort_falling(const real* numbers, Index count, real* sorted) {
  std::copy_n(numbers, count, sorted);
  std::sort(sorted, sorted + count, [](real x, real y) {
    return x > y || (!std::isnan(x) && std::isnan(y));  // a strict weak order even with NaNs
  });
}

void sparsemax_forward(AttentionSizes z, const real* energies, real* weights, real* scratch) {
  for (Index b = 0; b < z.sentences; ++b) {
    const real* e = energies + b * z.positions;
    real* w = weights + b * z.positions;
    const Index length = z.lengths[b];
    sort_falling(e, length, scratch);
    // Relative to the largest energy, so that a common offset of all energies costs no precision.
    real sum = 0, threshold = 0;
    for (Index k = 0; k < length; ++k) {
      const real rest = scratch[k] - scratch[0];
      sum += rest;
      if (1 + static_cast<real>(k + 1) * rest <= sum) break;
      threshold = (sum - 1) / static_cast<real>(k + 1);
    }
    for (Index s = 0; s < length; ++s) w[s] = std::max(e[s] - scratch[0] - threshold, real{0});
    std::fill(w + length, w + z.positions, real{0});
  }
}

void sparsemax_backward(AttentionSizes z,
                        const real* weights,
                        const real* dweights,
                        real* denergies) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    real sum = 0, support = 0;
    for (Index s = row; s < row + z.lengths[b]; ++s)
      if (weights[s] > 0) {
        sum += dweights[s];
        support += 1;
      }
    for (Index s = row; s < row + z.lengths[b]; ++s)
      if (weights[s] > 0) denergies[s] += dweights[s] - sum / support;
  }
}

void monotonic_forward(
    AttentionSizes z, const real* stop, const real* previous, real* reached, real* weights) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions, end = row + z.lengths[b];
    real q = 0;
    for (Index s = row; s < end; ++s) {
      q = (s > row ? (1 - stop[s - 1]) * q : real{0}) + previous[s];
      reached[s] = q;
      weights[s] = stop[s] * q;
    }
    std::fill(reached + end, reached + row + z.positions, real{0});
    std::fill(weights + end, weights + row + z.positions, real{0});
  }
}

// From right to left: dq_s = p_s dw_s + (1 - p_s) dq_{s+1}, dp_s = q_s (dw_s - dq_{s+1}).
void monotonic_backward(AttentionSizes z,
                        const real* stop,
                        const real* reached,
                        const real* dweights,
                        real* dstop,
                        real* dprevious) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    real dq = 0;
    for (Index s = row + z.lengths[b] - 1; s >= row; --s) {
      if (dstop != nullptr) dstop[s] += reached[s] * (dweights[s] - dq);
      dq = stop[s] * dweights[s] + (1 - stop[s]) * dq;
      if (dprevious != nullptr) dprevious[s] += dq;
    }
  }
}

namespace {

// Writes the softmax of e [count] to shares.
void softmax_of(const real* e, Index count, real* shares) {
  const real largest = *std::max_element(e, e + count);
  real sum = 0;
  for (Index l = 0; l < count; ++l) sum += shares[l] = vector_exp(e[l] - largest);
  for (Index l = 0; l < count; ++l) shares[l] /= sum;
}

}  // namespace

void chunk_forward(AttentionSizes z,
                   const real* ends,
                   const real* energies,
                   Index size,
                   real* weights,
                   real* scratch) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    std::fill_n(weights + row, z.positions, real{0});
    for (Index k = 0; k < z.lengths[b]; ++k) {
      if (ends[row + k] == 0) continue;
      const Index first = std::max<Index>(k - size + 1, 0), count = k - first + 1;
      softmax_of(energies + row + first, count, scratch);
      for (Index l = 0; l < count; ++l) weights[row + first + l] += ends[row + k] * scratch[l];
    }
  }
}

// dends_k = sum of p_kl dw_l, de_l = sum over k of ends_k p_kl (dw_l - dends_k).
void chunk_backward(AttentionSizes z,
                    const real* ends,
                    const real* energies,
                    Index size,
                    const real* dweights,
                    real* dends,
                    real* denergies,
                    real* scratch) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    for (Index k = 0; k < z.lengths[b]; ++k) {
      const Index first = std::max<Index>(k - size + 1, 0), count = k - first + 1;
      softmax_of(energies + row + first, count, scratch);
      real mean = 0;
      for (Index l = 0; l < count; ++l) mean += scratch[l] * dweights[row + first + l];
      if (dends != nullptr) dends[row + k] += mean;
      if (denergies == nullptr) continue;
      for (Index l = 0; l < count; ++l)
        denergies[row + first + l] +=
            ends[row + k] * scratch[l] * (dweights[row + first + l] - mean);
    }
  }
}

SOFTALIGN_KERNEL void gaussian_forward(
    AttentionSizes z, const real* weights, const real* centers, real deviation, real* scaled) {
  const real precision = 1 / (deviation * deviation);
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    for (Index s = 0; s < z.lengths[b]; ++s) {
      const real away = static_cast<real>(s) - centers[b];
      scaled[row + s] = weights[row + s] * vector_exp(real{-0.5} * precision * away * away);
    }
    std::fill(scaled + row + z.lengths[b], scaled + row + z.positions, real{0});
  }
}

SOFTALIGN_KERNEL void gaussian_backward(AttentionSizes z,
                                        const real* weights,
                                        const real* centers,
                                        real deviation,
                                        const real* dscaled,
                                        real* dweights,
                                        real* dcenters) {
  const real precision = 1 / (deviation * deviation);
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions;
    real sum = 0;
    for (Index s = 0; s < z.lengths[b]; ++s) {
      const real away = static_cast<real>(s) - centers[b];
      const real d = dscaled[row + s] * vector_exp(real{-0.5} * precision * away * away);
      if (dweights != nullptr) dweights[row + s] += d;
      sum += d * weights[row + s] * away * precision;
    }
    if (dcenters != nullptr) dcenters[b] += sum;
  }
}

SOFTALIGN_KERNEL void coverage_energy_forward(AttentionSizes z,
                                              const real* keys,
                                              const real* query,
                                              const real* v,
                                              const real* attended,
                                              const real* w,
                                              real* energies) {
  work_of_thread().multiplications += z.valid() * 2 * z.units;
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * z.units;
    for (Index s = 0; s < z.positions; ++s) {
      const Index row = b * z.positions + s;
      const real* k = keys + row * z.units;
      if (s < z.begin(b) || s >= z.lengths[b]) {
        energies[row] = 0;
        continue;
      }
      const real c = attended[row];
      energies[row] =
          lane_sum(z.units, [=](Index u) { return v[u] * vector_tanh(q[u] + k[u] + c * w[u]); });
    }
  }
}

SOFTALIGN_KERNEL void coverage_energy_backward(AttentionSizes z,
                                               const real* keys,
                                               const real* query,
                                               const real* v,
                                               const real* attended,
                                               const real* w,
                                               const real* denergies,
                                               CoverageGradients to,
                                               real* scratch) {
  const auto add = [units = z.units](real factor, const real* x, real* y) {
    for (Index u = 0; u < units; ++u) y[u] += factor * x[u];
  };
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * z.units;
    for (Index s = z.begin(b); s < z.lengths[b]; ++s) {
      const Index row = b * z.positions + s;
      const real* k = keys + row * z.units;
      const real de = denergies[row], c = attended[row];
      if (de == 0) continue;
      for (Index u = 0; u < z.units; ++u) scratch[u] = vector_tanh(q[u] + k[u] + c * w[u]);
      if (to.v != nullptr) add(de, scratch, to.v + b * z.units);
      for (Index u = 0; u < z.units; ++u) scratch[u] = de * v[u] * (1 - scratch[u] * scratch[u]);
      if (to.keys != nullptr) add(1, scratch, to.keys + row * z.units);
      if (to.query != nullptr) add(1, scratch, to.query + b * z.units);
      if (to.w != nullptr) add(c, scratch, to.w + b * z.units);
      if (to.attended != nullptr)
        to.attended[row] += lane_sum(z.units, [=](Index u) { return scratch[u] * w[u]; });
    }
  }
}

}  // namespace softalign::kernels
