#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/layer_norm.hpp"
#include "framework/kernels/multi_head.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

// The sizes of an array with sentences and positions as its leading dimensions, and where in memory
// a sentence and a position are.
struct Layout {
  Index sentences, positions, size;
  Index sentence, position;  // numbers from one to the next
};

Layout layout_of(std::string_view op, Var x, PositionAxis axis) {
  const Shape& s = x.shape();
  const Index size = s.last();
  if (s.rank() == 2) return {s[0], 1, size, size, size};
  ops::require(s.rank() == 3, op, "an array must be [B,S,D], [T,B,D] or [B,D]", x);
  if (axis == PositionAxis::first) return {s[1], s[0], size, size, s[1] * size};
  return {s[0], s[1], size, s[1] * size, size};
}

template <class Number = real>
kernels::HeadRows<Number> rows(const Layout& layout, View array, Index begin) {
  return {array ? array.data + begin : nullptr, layout.sentence, layout.position};
}

}  // namespace

Var layer_norm(Var x, Var gain, Var bias, real epsilon) {
  const kernels::LayerNormSizes n{x.shape().rows(), x.shape().last(), epsilon};
  ops::require(gain.shape().size() == n.size && bias.shape().size() == n.size,
               "layer_norm",
               "gain and bias must have the last size of x",
               x,
               gain,
               bias);
  Tape& tape = x.tape();
  View y = tape.allocate(x.shape()), mean = tape.allocate({n.rows}),
       scale = tape.allocate({n.rows});
  kernels::layer_norm_forward(
      n, x.value().data, gain.value().data, bias.value().data, y.data, mean.data, scale.data);
  return tape.expendable(tape.record(y, {x, gain, bias}, [=](View dy) {
    kernels::layer_norm_backward(n,
                                 x.value().data,
                                 gain.value().data,
                                 mean.data,
                                 scale.data,
                                 dy.data,
                                 x.gradient().data,
                                 gain.gradient().data,
                                 bias.gradient().data);
  }));
}

Var add_positions(real factor, Var x, Var table, Index first, PositionAxis axis) {
  const Layout n = layout_of("add_positions", x, axis);
  ops::require(table.shape().rank() == 2 && table.shape()[1] == n.size && table.shape()[0] > 0,
               "add_positions",
               "the table must be [P,D] for x [..., D]",
               x,
               table);
  View y = x.tape().allocate(x.shape());
  kernels::scale(y.size(), factor, x.value().data, y.data);
  // Calls f(row of the table, place in x) for each position of each sentence.
  const Index last = table.shape()[0] - 1;
  const auto for_each = [=](auto f) {
    for (Index t = 0; t < n.positions; ++t)
      for (Index b = 0; b < n.sentences; ++b)
        f(std::min(first + t, last) * n.size, b * n.sentence + t * n.position);
  };
  for_each(
      [&](Index row, Index at) { kernels::add(n.size, table.value().data + row, y.data + at); });
  return x.tape().expendable(x.tape().record(y, {x, table}, [=](View dy) {
    if (View dx = x.gradient()) kernels::add_scaled(dy.size(), factor, dy.data, dx.data);
    if (View dtable = table.gradient())
      for_each([&](Index row, Index at) { kernels::add(n.size, dy.data + at, dtable.data + row); });
  }));
}

Var append_step(Var past, Var now) {
  ops::require(past.shape().rank() == 3 && now.shape().rank() == 2 &&
                   past.shape()[0] == now.shape()[0] && past.shape()[2] == now.shape()[1],
               "append_step",
               "past [B,t,D] and now [B,D] must agree",
               past,
               now);
  const Index sentences = past.shape()[0], size = past.shape()[2], before = past.shape()[1] * size,
              after = before + size;
  View y = now.tape().allocate({sentences, past.shape()[1] + 1, size});
  for (Index b = 0; b < sentences; ++b) {
    std::copy_n(past.value().data + b * before, before, y.data + b * after);
    std::copy_n(now.value().data + b * size, size, y.data + b * after + before);
  }
  return now.tape().record(y, {past, now}, [=](View dy) {
    View dpast = past.gradient(), dnow = now.gradient();
    for (Index b = 0; b < sentences; ++b) {
      if (dpast) kernels::add(before, dy.data + b * after, dpast.data + b * before);
      if (dnow) kernels::add(size, dy.data + b * after + before, dnow.data + b * size);
    }
  });
}

MultiHead multi_head_attention(Heads queries,
                               Heads keys,
                               Heads values,
                               const MultiHeadSettings& settings) {
  constexpr std::string_view kName = "multi_head_attention";
  const Layout q = layout_of(kName, queries.array, queries.axis),
               k = layout_of(kName, keys.array, keys.axis),
               v = layout_of(kName, values.array, values.axis);
  const Index size = settings.size, heads = settings.heads, count = std::ssize(settings.lengths);
  ops::require(size % heads == 0 && queries.begin + size <= q.size && keys.begin + size <= k.size &&
                   values.begin + size <= v.size,
               kName,
               "equal heads must lie inside the arrays",
               queries.array,
               keys.array,
               values.array);
  ops::require(q.sentences == k.sentences && k.sentences == v.sentences &&
                   k.positions == v.positions && (count == 0 || count == k.sentences) &&
                   (!settings.causal || q.positions <= k.positions),
               kName,
               "queries, keys and values must agree in sentences, keys and values in positions",
               queries.array,
               keys.array,
               values.array);
  const kernels::MultiHeadSizes n{q.sentences,
                                  q.positions,
                                  k.positions,
                                  heads,
                                  size / heads,
                                  count == 0 ? nullptr : settings.lengths.data(),
                                  settings.causal};
  Tape& tape = queries.array.tape();
  const Layout c{
      q.sentences, q.positions, size, q.sentence / q.size * size, q.position / q.size * size};
  View context = tape.allocate(queries.array.shape().with_last(size));
  const Shape weights{n.queries, n.sentences, n.keys};
  View mean = settings.mean ? tape.zeros(weights) : View{};
  View each = settings.each ? tape.zeros({n.queries, n.sentences, heads, n.keys}) : View{};
  const Arena::Mark mark = tape.arena().mark();
  kernels::multi_head_forward(n,
                              rows<const real>(q, queries.array.value(), queries.begin),
                              rows<const real>(k, keys.array.value(), keys.begin),
                              rows<const real>(v, values.array.value(), values.begin),
                              rows(c, context, 0),
                              mean.data,
                              each.data,
                              tape.allocate({n.queries, n.keys}).data);
  tape.arena().rewind(mark);
  // dcontext or dmean is null.
  const auto backward = [=, &tape](View dcontext, View dmean) {
    View dq = queries.array.gradient(), dk = keys.array.gradient(), dv = values.array.gradient();
    const Arena::Mark start = tape.arena().mark();
    kernels::multi_head_backward(n,
                                 rows<const real>(q, queries.array.value(), queries.begin),
                                 rows<const real>(k, keys.array.value(), keys.begin),
                                 rows<const real>(v, values.array.value(), values.begin),
                                 rows<const real>(c, dcontext, 0),
                                 dmean.data,
                                 rows(q, dq, queries.begin),
                                 rows(k, dk, keys.begin),
                                 rows(v, dv, values.begin),
                                 tape.allocate({2, n.queries, n.keys}).data);
    tape.arena().rewind(start);
  };
  MultiHead result;
  if (mean)
    result.mean = tape.expendable(
        tape.record(mean, {queries.array, keys.array}, [=](View dmean) { backward({}, dmean); }));
  if (each) result.each = tape.constant(each);
  result.context = tape.expendable(tape.record(context,
                                               {queries.array, keys.array, values.array},
                                               [=](View dcontext) { backward(dcontext, {}); }));
  return result;
}

}  // namespace softalign
