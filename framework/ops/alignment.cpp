#include <algorithm>
#include <cmath>
#include <numeric>

#include "framework/base/elementary.hpp"
#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/attention.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/entmax.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

kernels::AttentionSizes attended_sizes(Var rows,
                                       std::span<const Index> lengths,
                                       std::string_view op) {
  ops::require(rows.shape().rank() == 2 && rows.shape()[0] == static_cast<Index>(lengths.size()),
               op,
               "the first argument must be [B,S] with a length for each of B",
               rows);
  return {rows.shape()[0], rows.shape()[1], 0, lengths.data()};
}

}  // namespace

Var coverage_energy(Var keys,
                    Var query,
                    Var v,
                    Var attended,
                    Var w,
                    std::span<const Index> lengths,
                    std::span<const Index> begins) {
  auto n = attended_sizes(attended, lengths, "coverage_energy");
  n.begins = begins.data();
  n.units = v.shape().size();
  ops::require(keys.shape() == Shape{n.sentences, n.positions, n.units} &&
                   query.shape() == Shape{n.sentences, n.units} && w.shape().size() == n.units,
               "coverage_energy",
               "keys [B,S,U], query [B,U], v [U], attended [B,S] and w [U] must agree",
               keys,
               query,
               v,
               attended,
               w);
  Tape& tape = keys.tape();
  View energies = tape.allocate(attended.shape());
  kernels::coverage_energy_forward(n,
                                   keys.value().data,
                                   query.value().data,
                                   v.value().data,
                                   attended.value().data,
                                   w.value().data,
                                   energies.data);
  return tape.record(energies, {keys, query, v, attended, w}, [=, &tape](View de) {
    const SentenceGradient dv(v, n.sentences, n.units), dw(w, n.sentences, n.units);
    const kernels::CoverageGradients to{keys.gradient().data,
                                        query.gradient().data,
                                        dv.data(),
                                        attended.gradient().data,
                                        dw.data()};
    const Arena::Mark mark = tape.arena().mark();
    kernels::coverage_energy_backward(n,
                                      keys.value().data,
                                      query.value().data,
                                      v.value().data,
                                      attended.value().data,
                                      w.value().data,
                                      de.data,
                                      to,
                                      tape.allocate({n.units}).data);
    tape.arena().rewind(mark);
  });
}

Var sparsemax_prefix(Var energies, std::span<const Index> lengths) {
  const auto n = attended_sizes(energies, lengths, "sparsemax_prefix");
  Tape& tape = energies.tape();
  View weights = tape.allocate(energies.shape());
  const Arena::Mark mark = tape.arena().mark();
  kernels::sparsemax_forward(
      n, energies.value().data, weights.data, tape.allocate({n.positions}).data);
  tape.arena().rewind(mark);
  return tape.record(weights, {energies}, [=](View dw) {
    kernels::sparsemax_backward(n, weights.data, dw.data, energies.gradient().data);
  });
}

Var entmax_prefix(Var energies, double alpha, std::span<const Index> lengths) {
  if (alpha == 1) return softmax_prefix(energies, lengths);
  if (alpha == 2) return sparsemax_prefix(energies, lengths);
  const auto n = attended_sizes(energies, lengths, "entmax_prefix");
  ops::require(alpha > 1 && alpha < 2, "entmax_prefix", "alpha must be in [1, 2]", energies);
  Tape& tape = energies.tape();
  View weights = tape.allocate(energies.shape());
  View beta = tape.allocate({1});
  beta.data[0] = static_cast<real>(alpha - 1);
  if (alpha == 1.5) {
    const Arena::Mark mark = tape.arena().mark();
    kernels::entmax15_forward(
        n, energies.value().data, weights.data, tape.allocate({n.positions}).data);
    tape.arena().rewind(mark);
  } else {
    kernels::entmax_forward(n, energies.value().data, beta.data, weights.data);
  }
  return tape.record(weights, {energies}, [=](View dw) {
    kernels::entmax_backward(
        n, weights.data, beta.data, dw.data, energies.gradient().data, nullptr);
  });
}

Var entmax_prefix(Var energies, Var alpha, std::span<const Index> lengths) {
  const auto n = attended_sizes(energies, lengths, "entmax_prefix");
  ops::require(alpha.shape() == Shape{n.sentences, 1},
               "entmax_prefix",
               "alpha must be [B,1]",
               energies,
               alpha);
  Tape& tape = energies.tape();
  View weights = tape.allocate(energies.shape()), beta = tape.allocate(alpha.shape());
  std::transform(
      alpha.value().begin(), alpha.value().end(), beta.begin(), [](real a) { return a - 1; });
  kernels::entmax_forward(n, energies.value().data, {beta.data, 1}, weights.data);
  return tape.record(weights, {energies, alpha}, [=](View dw) {
    kernels::entmax_backward(
        n, weights.data, {beta.data, 1}, dw.data, energies.gradient().data, alpha.gradient().data);
  });
}

Var gaussian_window(Var weights, Var centers, real deviation, std::span<const Index> lengths) {
  const auto n = attended_sizes(weights, lengths, "gaussian_window");
  ops::require(centers.shape().size() == n.sentences && deviation > 0,
               "gaussian_window",
               "one centre for each sentence, and a deviation above 0",
               weights,
               centers);
  View scaled = weights.tape().allocate(weights.shape());
  kernels::gaussian_forward(n, weights.value().data, centers.value().data, deviation, scaled.data);
  return weights.tape().record(scaled, {weights, centers}, [=](View d) {
    kernels::gaussian_backward(n,
                               weights.value().data,
                               centers.value().data,
                               deviation,
                               d.data,
                               weights.gradient().data,
                               centers.gradient().data);
  });
}

Var monotonic_prefix(Var stop, Var previous, std::span<const Index> lengths) {
  const auto n = attended_sizes(stop, lengths, "monotonic_prefix");
  ops::require(previous.shape() == stop.shape(),
               "monotonic_prefix",
               "stop and previous must both be [B,S]",
               stop,
               previous);
  Tape& tape = stop.tape();
  View reached = tape.allocate(stop.shape()), weights = tape.allocate(stop.shape());
  kernels::monotonic_forward(
      n, stop.value().data, previous.value().data, reached.data, weights.data);
  return tape.record(weights, {stop, previous}, [=](View dw) {
    kernels::monotonic_backward(n,
                                stop.value().data,
                                reached.data,
                                dw.data,
                                stop.gradient().data,
                                previous.gradient().data);
  });
}

Var chunk_prefix(Var ends, Var energies, Index size, std::span<const Index> lengths) {
  const auto n = attended_sizes(ends, lengths, "chunk_prefix");
  ops::require(energies.shape() == ends.shape() && size > 0,
               "chunk_prefix",
               "ends and energies must both be [B,S], and the size at least 1",
               ends,
               energies);
  Tape& tape = ends.tape();
  View weights = tape.allocate(ends.shape());
  const Arena::Mark mark = tape.arena().mark();
  real* scratch = tape.allocate({std::min(size, n.positions)}).data;
  kernels::chunk_forward(n, ends.value().data, energies.value().data, size, weights.data, scratch);
  tape.arena().rewind(mark);
  return tape.record(weights, {ends, energies}, [=, &tape](View dw) {
    const Arena::Mark start = tape.arena().mark();
    kernels::chunk_backward(n,
                            ends.value().data,
                            energies.value().data,
                            size,
                            dw.data,
                            ends.gradient().data,
                            energies.gradient().data,
                            tape.allocate({std::min(size, n.positions)}).data);
    tape.arena().rewind(start);
  });
}

Var permute_prefix(Var x, const Index* places, std::span<const Index> lengths) {
  const auto n = attended_sizes(x, lengths, "permute_prefix");
  View y = x.tape().zeros(x.shape());
  // Calls f(from, to) for each valid position.
  const auto for_each = [=](auto f) {
    for (Index b = 0, row = 0; b < n.sentences; ++b, row += n.positions)
      for (Index s = 0; s < n.lengths[b]; ++s) f(row + places[row + s], row + s);
  };
  for_each([&](Index from, Index to) { y.data[to] = x.value().data[from]; });
  return x.tape().record(y, {x}, [=](View dy) {
    View dx = x.gradient();
    for_each([&](Index from, Index to) { dx.data[from] += dy.data[to]; });
  });
}

Var log_likelihood(Var weights, const Index* positions, const real* factors) {
  const Index each = weights.shape().last();
  View y = weights.tape().zeros({weights.shape().sentences()});
  // Calls f(sentence, factor, offset of the weight) for each distribution that counts.
  const auto for_each = [=, rows = sentence_rows(weights.value())](auto f) {
    for (Index b = 0; b < rows.sentences; ++b)
      for (Index s = 0; s < rows.positions; ++s)
        if (const Index at = rows.row(b, s) - rows.data; factors[at / each] != 0)
          f(b, factors[at / each], at + positions[at / each]);
  };
  for_each([&](Index b, real factor, Index at) {
    y.data[b] += factor * exact::log(weights.value().data[at]);
  });
  return weights.tape().record(y, {weights}, [=](View dy) {
    View dw = weights.gradient();
    for_each([&](Index b, real factor, Index at) {
      dw.data[at] += dy.data[b] * factor / weights.value().data[at];
    });
  });
}

Var entropy(Var weights, const real* factors) {
  const Index each = weights.shape().last();
  View y = weights.tape().zeros({weights.shape().sentences()});
  // Calls f(sentence, factor, offset) for each weight that is not 0.
  const auto for_each = [=, rows = sentence_rows(weights.value())](auto f) {
    for (Index b = 0; b < rows.sentences; ++b)
      for (Index s = 0; s < rows.positions; ++s) {
        const Index first = rows.row(b, s) - rows.data;
        for (Index at = first; at < first + each; ++at)
          if (rows.data[at] > 0) f(b, factors[first / each], at);
      }
  };
  for_each([&](Index b, real factor, Index at) {
    const real w = weights.value().data[at];
    y.data[b] -= factor * w * exact::log(w);
  });
  return weights.tape().record(y, {weights}, [=](View dy) {
    View dw = weights.gradient();
    for_each([&](Index b, real factor, Index at) {
      dw.data[at] -= dy.data[b] * factor * (exact::log(weights.value().data[at]) + 1);
    });
  });
}

Var shift_by(Var x, Var offset) {
  ops::require(offset.shape().size() == 1, "shift_by", "the offset must be one number", x, offset);
  View y = x.tape().allocate(x.shape());
  const real by = offset.value().data[0];
  std::transform(x.value().begin(), x.value().end(), y.begin(), [=](real e) { return e + by; });
  return x.tape().record(y, {x, offset}, [=](View dy) {
    if (View dx = x.gradient()) kernels::add(dy.size(), dy.data, dx.data);
    const SentenceRows rows = sentence_rows(dy);
    const SentenceGradient d(offset, rows.sentences, 1);
    if (!d) return;
    for (Index b = 0; b < rows.sentences; ++b)
      for (Index s = 0; s < rows.positions; ++s)
        *d.row(b) = std::accumulate(rows.row(b, s), rows.row(b, s) + rows.columns, *d.row(b));
  });
}

Var scale_by(Var x, Var factor) {
  ops::require(factor.shape().size() == 1, "scale_by", "the factor must be one number", x, factor);
  View y = x.tape().allocate(x.shape());
  kernels::scale(y.size(), factor.value().data[0], x.value().data, y.data);
  return x.tape().record(y, {x, factor}, [=](View dy) {
    if (View dx = x.gradient())
      kernels::add_scaled(dy.size(), factor.value().data[0], dy.data, dx.data);
    const SentenceRows rows = sentence_rows(dy), values = sentence_rows(x.value());
    const SentenceGradient df(factor, rows.sentences, 1);
    if (!df) return;
    for (Index b = 0; b < rows.sentences; ++b)
      for (Index s = 0; s < rows.positions; ++s)
        *df.row(b) += kernels::dot(rows.columns, rows.row(b, s), values.row(b, s));
  });
}

}  // namespace softalign
