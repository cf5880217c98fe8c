#include "framework/kernels/entmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/elementary.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {
namespace {

constexpr int kBisections = std::numeric_limits<real>::digits + 8;

// max(0, 1 + beta x)^(1 / beta) for x <= 0; exp(x) for beta = 0. log(u) y / (u - 1) is log(1 + y) without the
// error of rounding 1 + y.
real raised(real x, real beta) {
  const real y = beta * x, u = 1 + y;
  if (u <= 0) return 0;
  if (u == 1) return vector_exp(x);
  return vector_exp(exact::log(u) * (y / (u - 1)) / beta);
}

// w^(1 - beta), w > 0.
real slope(real w, real beta) {
  if (beta == real{0.5}) return std::sqrt(w);
  return vector_exp((1 - beta) * exact::log(w));
}

// d/dbeta of (w^beta - 1) / beta = log(w)² (x e^x - e^x + 1) / x², x = beta log(w) <= 0. Near 0 a series, the sum of
// (k + 1) x^k / (k + 2)!.
double curvature(double w, double beta) {
  const double log = exact::log(w), x = beta * log;
  if (x < -1) {
    const double power = exact::exp(x);
    return (x * power - power + 1) / (beta * beta);
  }
  double sum = 0, term = 0.5;
  for (int k = 0; k < 20; ++k) {
    sum += (k + 1) * term;
    term *= x / (k + 3);
  }
  return log * log * sum;
}

}  // namespace

void entmax15_forward(AttentionSizes z, const real* energies, real* weights, real* scratch) {
  for (Index b = 0; b < z.sentences; ++b) {
    const real* e = energies + b * z.positions;
    real* w = weights + b * z.positions;
    const Index length = z.lengths[b];
    sort_falling(e, length, scratch);
    // Half the energies, relative to the largest: w_s = (half_s - threshold)².
    const auto half = [largest = static_cast<double>(scratch[0])](real energy) {
      return (static_cast<double>(energy) - largest) / 2;
    };
    double sum = 0, squares = 0, threshold = 0;
    for (Index k = 0; k < length; ++k) {
      const double now = half(scratch[k]), count = static_cast<double>(k + 1);
      sum += now;
      squares += now * now;
      const double mean = sum / count;
      const double root = std::sqrt(std::max((1 - (squares - sum * mean)) / count, 0.0));
      if (k > 0 && mean - root >= now) break;
      threshold = mean - root;
    }
    for (Index s = 0; s < length; ++s) {
      const double above = std::max(half(e[s]) - threshold, 0.0);
      w[s] = static_cast<real>(above * above);
    }
    std::fill(w + length, w + z.positions, real{0});
  }
}

void entmax_forward(AttentionSizes z, const real* energies, SharedRow betas, real* weights) {
  for (Index b = 0; b < z.sentences; ++b) {
    const real* e = energies + b * z.positions;
    real* w = weights + b * z.positions;
    const Index length = z.lengths[b];
    const real beta = betas.data[b * betas.of_sentence], largest = *std::max_element(e, e + length);
    // t, relative to the largest energy, is at least 0, where its weight is 1, and at most log(length), beyond
    // which no weight is above 1 / length.
    real low = 0, high = exact::log(static_cast<real>(length));
    const auto fill = [&](real t) {
      real sum = 0;
      for (Index s = 0; s < length; ++s) sum += w[s] = raised(e[s] - largest - t, beta);
      return sum;
    };
    for (int i = 0; i < kBisections; ++i) {
      const real middle = (low + high) / 2;
      (fill(middle) >= 1 ? low : high) = middle;
    }
    const real sum = fill(low);
    for (Index s = 0; s < length; ++s) w[s] /= sum;
    std::fill(w + length, w + z.positions, real{0});
  }
}

void entmax_backward(AttentionSizes z,
                     const real* weights,
                     SharedRow betas,
                     const real* dweights,
                     real* denergies,
                     real* dbeta) {
  for (Index b = 0; b < z.sentences; ++b) {
    const Index row = b * z.positions, end = row + z.lengths[b];
    const real beta = betas.data[b * betas.of_sentence];
    double total = 0, mean = 0, curved = 0, both = 0;  // sums of u, u dw, u q, u q dw
    for (Index s = row; s < end; ++s) {
      if (!(weights[s] > 0)) continue;
      const auto u = static_cast<double>(slope(weights[s], beta));
      const auto dw = static_cast<double>(dweights[s]);
      total += u;
      mean += u * dw;
      if (dbeta == nullptr) continue;
      const double q = curvature(static_cast<double>(weights[s]), static_cast<double>(beta));
      curved += u * q;
      both += u * q * dw;
    }
    if (!(total > 0)) continue;
    mean /= total;
    if (dbeta != nullptr) dbeta[b] -= static_cast<real>(both - mean * curved);
    if (denergies == nullptr) continue;
    for (Index s = row; s < end; ++s)
      if (weights[s] > 0)
        denergies[s] += slope(weights[s], beta) * (dweights[s] - static_cast<real>(mean));
  }
}

}  // namespace softalign::kernels
