#include "framework/kernels/location.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/kernels/vector_math.hpp"
#include "framework/kernels/work.hpp"

namespace softalign::kernels {
namespace {

// Arrays in the scratch memory of a sentence.
struct LocationScratch {
  LocationScratch(AttentionSizes z, const LocationFilters& f, real* numbers)
      : padded(z.positions + 2 * f.half()),
        previous(numbers),
        dprevious(previous + padded),
        features(dprevious + padded),
        units(features + f.count),
        unused(units + z.units) {}

  // Copies the previous weights between zeros, so that each position has `width` neighbours.
  void fill(AttentionSizes z, const LocationFilters& f, const real* weights) const {
    std::fill_n(previous, padded, real{0});
    std::copy_n(weights, z.positions, previous + f.half());
  }

  Index padded;
  real* previous;   // [padded]
  real* dprevious;  // [padded]
  real* features;   // [K]
  real* units;      // [U]
  real* unused;     // [4 U + K max(R, U)], for gradients that are not needed
};

// Computes the location features and their sums inside the tanh; window: previous weights around the position.
SOFTALIGN_INLINE void add_location(
    const LocationFilters& f, Index units, const real* window, real* features, real* sums) {
  std::fill_n(sums, units, real{0});
  for (Index k = 0; k < f.count; ++k) {
    const real* filter = f.numbers + k * f.width;
    const real* row = f.to_units + k * units;
    const real feature = lane_sum(f.width, [=](Index r) { return filter[r] * window[r]; });
    features[k] = feature;
    for (Index u = 0; u < units; ++u) sums[u] += feature * row[u];
  }
}

}  // namespace

Index location_scratch(AttentionSizes z, const LocationFilters& f) {
  return 2 * (z.positions + 2 * f.half()) + f.count + 5 * z.units +
         f.count * std::max(f.width, z.units);
}

SOFTALIGN_KERNEL void location_energy_forward(AttentionSizes z,
                                              const LocationFilters& f,
                                              const real* keys,
                                              const real* query,
                                              const real* v,
                                              const real* previous,
                                              real* energies,
                                              real* scratch) {
  work_of_thread().multiplications += z.valid() * (z.units + f.count * (f.width + z.units));
  const LocationScratch at(z, f, scratch);
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * z.units;
    const real* sums = at.units;
    at.fill(z, f, previous + b * z.positions);
    for (Index s = 0; s < z.positions; ++s) {
      const Index row = b * z.positions + s;
      energies[row] = 0;
      if (s < z.begin(b) || s >= z.lengths[b]) continue;
      const real* k = keys + row * z.units;
      add_location(f, z.units, at.previous + s, at.features, at.units);
      energies[row] =
          lane_sum(z.units, [=](Index u) { return v[u] * vector_tanh(q[u] + k[u] + sums[u]); });
    }
  }
}

SOFTALIGN_KERNEL void location_energy_backward(AttentionSizes z,
                                               const LocationFilters& f,
                                               const real* keys,
                                               const real* query,
                                               const real* v,
                                               const real* previous,
                                               const real* denergies,
                                               LocationGradients to,
                                               real* scratch) {
  const LocationScratch at(z, f, scratch);
  const Index units = z.units;
  for (Index b = 0; b < z.sentences; ++b) {
    const real* q = query + b * units;
    real* to_v = to.v != nullptr ? to.v + b * units : at.unused;
    real* to_query = to.query != nullptr ? to.query + b * units : at.unused + units;
    real* d = at.unused + 3 * units;  // gradient of the numbers inside the tanh
    at.fill(z, f, previous + b * z.positions);
    std::fill_n(at.dprevious, at.padded, real{0});
    for (Index s = z.begin(b); s < z.lengths[b]; ++s) {
      const Index row = b * z.positions + s;
      const real de = denergies[row];
      if (de == 0) continue;
      const real* k = keys + row * units;
      const real* sums = at.units;
      real* to_key = to.keys != nullptr ? to.keys + row * units : at.unused + 2 * units;
      add_location(f, units, at.previous + s, at.features, at.units);
      SOFTALIGN_NO_OVERLAP
      for (Index u = 0; u < units; ++u) {
        const real t = vector_tanh(q[u] + k[u] + sums[u]);
        d[u] = de * v[u] * (1 - t * t);
        to_v[u] += de * t;
        to_key[u] += d[u];
        to_query[u] += d[u];
      }
      for (Index c = 0; c < f.count; ++c) {
        const real* filter = f.numbers + c * f.width;
        const real* of_units = f.to_units + c * units;
        const real feature = at.features[c];
        const real dfeature = lane_sum(units, [=](Index u) { return of_units[u] * d[u]; });
        if (to.to_units != nullptr) {
          real* row_of_units = to.to_units + (b * f.count + c) * units;
          for (Index u = 0; u < units; ++u) row_of_units[u] += feature * d[u];
        }
        if (to.filters != nullptr) {
          real* row_of_filter = to.filters + (b * f.count + c) * f.width;
          const real* window = at.previous + s;
          for (Index r = 0; r < f.width; ++r) row_of_filter[r] += dfeature * window[r];
        }
        real* dwindow = at.dprevious + s;
        for (Index r = 0; r < f.width; ++r) dwindow[r] += dfeature * filter[r];
      }
    }
    if (to.previous == nullptr) continue;
    const real* dprevious = at.dprevious + f.half();
    real* to_previous = to.previous + b * z.positions;
    for (Index s = 0; s < z.positions; ++s) to_previous[s] += dprevious[s];
  }
}

SOFTALIGN_KERNEL void gaussian_mixture_forward(AttentionSizes z,
                                               const GaussianMixture& m,
                                               real* weights) {
  for (Index b = 0; b < z.sentences; ++b) {
    real* w = weights + b * z.positions;
    std::fill_n(w, z.positions, real{0});
    for (Index k = b * m.count; k < (b + 1) * m.count; ++k) {
      const real height = m.heights[k], sharpness = m.sharpness[k], center = m.centers[k];
      for (Index s = 0; s < z.lengths[b]; ++s) {
        const real away = center - static_cast<real>(s + 1);
        w[s] += height * vector_exp(-sharpness * away * away);
      }
    }
  }
}

// With g = exp(-sharpness away²), away = center - (s + 1):
//   dheight = dw g,  dsharpness = -dw height g away²,  dcenter = -2 dw height g sharpness away
SOFTALIGN_KERNEL void gaussian_mixture_backward(AttentionSizes z,
                                                const GaussianMixture& m,
                                                const real* dweights,
                                                MixtureGradients to) {
  for (Index b = 0; b < z.sentences; ++b) {
    const real* dw = dweights + b * z.positions;
    for (Index k = b * m.count; k < (b + 1) * m.count; ++k) {
      const real height = m.heights[k], sharpness = m.sharpness[k], center = m.centers[k];
      real once = 0, by_away = 0, by_square = 0;
      for (Index s = 0; s < z.lengths[b]; ++s) {
        const real away = center - static_cast<real>(s + 1);
        const real d = dw[s] * vector_exp(-sharpness * away * away);
        once += d;
        by_away += d * away;
        by_square += d * away * away;
      }
      if (to.heights != nullptr) to.heights[k] += once;
      if (to.sharpness != nullptr) to.sharpness[k] -= height * by_square;
      if (to.centers != nullptr) to.centers[k] -= 2 * height * sharpness * by_away;
    }
  }
}

SOFTALIGN_KERNEL void normalize_forward(AttentionSizes z, const real* x, real* weights) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index begin = z.begin(b), length = z.lengths[b] - begin;
    const real* from = x + b * z.positions + begin;
    real* w = weights + b * z.positions + begin;
    std::fill(w - begin, w, real{0});
    const real sum = lane_sum(length, [=](Index s) { return from[s]; });
    for (Index s = 0; s < length; ++s) w[s] = from[s] / sum;
    std::fill(w + length, w + z.positions - begin, real{0});
  }
}

// dx = (dw - w . dw) / sum
SOFTALIGN_KERNEL void normalize_backward(
    AttentionSizes z, const real* x, const real* weights, const real* dweights, real* dx) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions + z.begin(b), length = z.lengths[b] - z.begin(b);
    const real* from = x + row;
    const real* w = weights + row;
    const real* dw = dweights + row;
    const real sum = lane_sum(length, [=](Index s) { return from[s]; });
    const real mean = lane_sum(length, [=](Index s) { return w[s] * dw[s]; });
    for (Index s = 0; s < length; ++s) dx[row + s] += (dw[s] - mean) / sum;
  }
}

SOFTALIGN_KERNEL void exp_forward(Index n, const real* x, real* y) {
  for (Index i = 0; i < n; ++i) y[i] = vector_exp(x[i]);
}
SOFTALIGN_KERNEL void exp_backward(Index n, const real* y, const real* dy, real* dx) {
  for (Index i = 0; i < n; ++i) dx[i] += dy[i] * y[i];
}

}  // namespace softalign::kernels
