#include "framework/ops/location.hpp"

#include "framework/base/types.hpp"
#include "framework/kernels/location.hpp"
#include "framework/kernels/work.hpp"
#include "framework/ops/check.hpp"

namespace softalign {

Var exp(Var x) {
  View y = x.tape().allocate(x.shape());
  kernels::exp_forward(y.size(), x.value().data, y.data);
  return x.tape().record(y, {x}, [=](View dy) {
    kernels::exp_backward(dy.size(), y.data, dy.data, x.gradient().data);
  });
}

Var location_energy(Var keys,
                    Var query,
                    Var v,
                    const LocationFeatures& location,
                    std::span<const Index> lengths,
                    std::span<const Index> begins) {
  const auto [previous, filters, to_units] = location;
  const Index rows = keys.shape()[0], positions = keys.shape()[1], units = v.shape().size();
  const kernels::AttentionSizes n{rows, positions, units, lengths.data(), begins.data()};
  const Index count = filters.shape()[0], width = filters.shape().last();
  ops::require(keys.shape() == Shape{rows, positions, units} && std::ssize(lengths) == rows &&
                   query.shape() == Shape{rows, units} &&
                   previous.shape() == Shape{rows, positions} && filters.shape().rank() == 2 &&
                   width % 2 == 1 && to_units.shape() == Shape{count, units},
               "location_energy",
               "keys [B,S,U], query [B,U], v [U], previous [B,S], filters [K,R] and to_units [K,U] "
               "must agree, and R be odd",
               keys,
               query,
               v,
               previous,
               filters,
               to_units);
  Tape& tape = keys.tape();
  const kernels::LocationFilters f{count, width, filters.value().data, to_units.value().data};
  count_energies(lengths, 1, begins);
  View energies = tape.allocate(previous.shape());
  const Arena::Mark before = tape.arena().mark();
  kernels::location_energy_forward(n,
                                   f,
                                   keys.value().data,
                                   query.value().data,
                                   v.value().data,
                                   previous.value().data,
                                   energies.data,
                                   tape.allocate({kernels::location_scratch(n, f)}).data);
  tape.arena().rewind(before);
  const auto backward =
      [=, previous = previous, filters = filters, to_units = to_units, &tape](View de) {
        const SentenceGradient dv(v, n.sentences, n.units),
            dfilters(filters, n.sentences, f.count * f.width),
            dunits(to_units, n.sentences, f.count * n.units);
        const kernels::LocationGradients to{keys.gradient().data,
                                            query.gradient().data,
                                            dv.data(),
                                            previous.gradient().data,
                                            dfilters.data(),
                                            dunits.data()};
        const Arena::Mark mark = tape.arena().mark();
        kernels::location_energy_backward(n,
                                          f,
                                          keys.value().data,
                                          query.value().data,
                                          v.value().data,
                                          previous.value().data,
                                          de.data,
                                          to,
                                          tape.allocate({kernels::location_scratch(n, f)}).data);
        tape.arena().rewind(mark);
      };
  return tape.record(energies, {keys, query, v, previous, filters, to_units}, backward);
}

Var normalize_prefix(Var x, std::span<const Index> lengths, std::span<const Index> begins) {
  ops::require(x.shape().rank() == 2 && x.shape()[0] == std::ssize(lengths),
               "normalize_prefix",
               "x must be [B,S] with a length for each of B",
               x);
  const kernels::AttentionSizes n{x.shape()[0], x.shape()[1], 0, lengths.data(), begins.data()};
  View weights = x.tape().allocate(x.shape());
  kernels::normalize_forward(n, x.value().data, weights.data);
  return x.tape().record(weights, {x}, [=](View dw) {
    kernels::normalize_backward(n, x.value().data, weights.data, dw.data, x.gradient().data);
  });
}

Var gaussian_mixture(
    Var heights, Var sharpness, Var centers, Index positions, std::span<const Index> lengths) {
  const Shape& shape = heights.shape();
  ops::require(shape.rank() == 2 && shape[0] == std::ssize(lengths) && sharpness.shape() == shape &&
                   centers.shape() == shape,
               "gaussian_mixture",
               "heights, sharpness and centers must all be [B,K], with a length for each of B",
               heights,
               sharpness,
               centers);
  const kernels::AttentionSizes n{shape[0], positions, 0, lengths.data()};
  const kernels::GaussianMixture mixture{
      shape[1], heights.value().data, sharpness.value().data, centers.value().data};
  View weights = heights.tape().allocate({n.sentences, positions});
  kernels::gaussian_mixture_forward(n, mixture, weights.data);
  return heights.tape().record(weights, {heights, sharpness, centers}, [=](View dw) {
    kernels::gaussian_mixture_backward(
        n,
        mixture,
        dw.data,
        {heights.gradient().data, sharpness.gradient().data, centers.gradient().data});
  });
}

}  // namespace softalign
