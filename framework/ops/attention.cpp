#include "framework/kernels/attention.hpp"

#include "framework/base/types.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

kernels::AttentionSizes sizes_of(Var memory,
                                 std::span<const Index> lengths,
                                 std::string_view op,
                                 std::span<const Index> begins = {}) {
  ops::require(
      memory.shape().rank() == 3 && memory.shape()[0] == static_cast<Index>(lengths.size()),
      op,
      "keys or values must be [B,S,D] with a length for each of B",
      memory);
  return {memory.shape()[0], memory.shape()[1], memory.shape()[2], lengths.data(), begins.data()};
}

}  // namespace

Var additive_energy(
    Var keys, Var query, Var v, std::span<const Index> lengths, std::span<const Index> begins) {
  const auto n = sizes_of(keys, lengths, "additive_energy", begins);
  const bool one_v = v.shape().size() == n.units;
  ops::require(query.shape() == Shape{n.sentences, n.units} &&
                   (one_v || v.shape() == Shape{n.sentences, n.units}),
               "additive_energy",
               "keys [B,S,U], query [B,U] and v [U] or [B,U] must agree",
               keys,
               query,
               v);
  Tape& tape = keys.tape();
  View energies = tape.allocate({n.sentences, n.positions});
  const kernels::SharedRow row(v.value().data, one_v ? 0 : n.units);
  kernels::additive_energy_forward(n, keys.value().data, query.value().data, row, energies.data);
  return tape.record(energies, {keys, query, v}, [=, &tape](View de) {
    View dkeys = keys.gradient(), dquery = query.gradient();
    const SentenceGradient dv(v, n.sentences, n.units);
    const Arena::Mark mark = tape.arena().mark();
    View scratch = tape.allocate({3, n.units});
    kernels::additive_energy_backward(n,
                                      keys.value().data,
                                      query.value().data,
                                      row,
                                      de.data,
                                      dkeys.data,
                                      dquery.data,
                                      dv.data(),
                                      scratch.data);
    tape.arena().rewind(mark);
  });
}

Var batched_dot(Var keys,
                Var query,
                std::span<const Index> lengths,
                std::span<const Index> begins) {
  const auto n = sizes_of(keys, lengths, "batched_dot", begins);
  ops::require(query.shape() == Shape{n.sentences, n.units},
               "batched_dot",
               "the query must be [B,D] for keys [B,S,D]",
               keys,
               query);
  View energies = keys.tape().allocate({n.sentences, n.positions});
  kernels::batched_dot(n, keys.value().data, query.value().data, false, energies.data);
  return keys.tape().record(energies, {keys, query}, [=](View de) {
    if (keys.needs_gradient()) keys.tape().add_outer_products(keys, de, query.value(), lengths);
    if (View dquery = query.gradient())
      kernels::weighted_sum(n, de.data, keys.value().data, true, dquery.data);
  });
}

Var batched_dot(Var keys, Var query) {
  const Index rows = keys.shape()[0];
  Index* all = keys.tape().arena().array_of<Index>(rows);
  std::fill_n(all, rows, keys.shape()[1]);
  return batched_dot(keys, query, {all, usize(rows)});
}

Var softmax_prefix(Var energies, std::span<const Index> lengths, std::span<const Index> begins) {
  ops::require(
      energies.shape().rank() == 2 && energies.shape()[0] == static_cast<Index>(lengths.size()),
      "softmax_prefix",
      "energies must be [B,S] with a length for each of B",
      energies);
  const kernels::AttentionSizes n{
      energies.shape()[0], energies.shape()[1], 0, lengths.data(), begins.data()};
  for (std::size_t b = 0; b < begins.size(); ++b)
    if (begins[b] < 0 || begins[b] >= lengths[b] || lengths[b] > n.positions)
      throw BugError(
          "[softmax_prefix] window [{}, {}) of {} positions", begins[b], lengths[b], n.positions);
  View weights = energies.tape().allocate(energies.shape());
  kernels::softmax_forward(n, energies.value().data, weights.data);
  return energies.tape().record(weights, {energies}, [=](View dw) {
    kernels::softmax_backward(n, weights.data, dw.data, energies.gradient().data);
  });
}

Var weighted_sum(Var weights, Var values, std::span<const Index> lengths) {
  const auto n = sizes_of(values, lengths, "weighted_sum");
  ops::require(weights.shape() == Shape{n.sentences, n.positions},
               "weighted_sum",
               "weights must be [B,S] for values [B,S,D]",
               weights,
               values);
  View context = weights.tape().allocate({n.sentences, n.units});
  kernels::weighted_sum(n, weights.value().data, values.value().data, false, context.data);
  return weights.tape().record(context, {weights, values}, [=](View dc) {
    if (values.needs_gradient())
      values.tape().add_outer_products(values, weights.value(), dc, lengths);
    if (View dweights = weights.gradient())
      kernels::batched_dot(n, values.value().data, dc.data, true, dweights.data);
  });
}

Var mean_prefix(Var values, std::span<const Index> lengths) {
  const auto n = sizes_of(values, lengths, "mean_prefix");
  View weights = values.tape().zeros({n.sentences, n.positions});
  for (Index b = 0; b < n.sentences; ++b)
    std::fill_n(
        weights.data + b * n.positions, n.lengths[b], real{1} / static_cast<real>(n.lengths[b]));
  return weighted_sum(values.tape().constant(weights), values, lengths);
}

}  // namespace softalign
