#include "framework/kernels/transformer.hpp"

#include <optional>

#include "framework/kernels/elementwise.hpp"
#include "framework/ops/check.hpp"
#include "framework/ops/draw.hpp"
#include "framework/ops/ops.hpp"

namespace softalign {
namespace {

SentenceRows rows_of(std::string_view op, Var x) {
  ops::require(x.shape().rank() == 2 || x.shape().rank() == 3,
               op,
               "an array must be [B,S,D], [T,B,D] or [B,D]",
               x);
  return sentence_rows(View{nullptr, x.shape()});
}

template <class Number = real>
kernels::HeadRows<Number> heads_of(const SentenceRows& rows, View array, Index begin) {
  return {array ? array.data + begin : nullptr, rows.of_sentence, rows.of_position};
}

kernels::DistanceRows distance_rows(const DistanceVectors& distances, Index size, Index heads) {
  if (!distances.keys) return {};
  const Shape& shape = distances.keys.shape();
  ops::require(shape.rank() == 2 && (shape[1] == size || shape[1] == size / heads) &&
                   shape[0] > distances.clip,
               "multi_head_attention",
               "vectors of distances must be [rows, D] or [rows, D/H], with more rows than clip",
               distances.keys);
  ops::require(!distances.values || distances.values.shape() == shape,
               "multi_head_attention",
               "vectors of distances for keys and values must be as many",
               distances.keys,
               distances.values);
  return {distances.keys.value().data,
          distances.values ? distances.values.value().data : nullptr,
          distances.clip,
          shape[0],
          shape[1],
          shape[1] == size ? size / heads : 0};
}

kernels::KeptWeights kept_weights(Tape& tape,
                                  const WeightDropout& dropout,
                                  const kernels::MultiHeadSizes& n) {
  const Noise* noise = tape.noise();
  if (dropout.rate == 0 || noise == nullptr) return {};
  const RandomStream numbers = noise->stream(*dropout.stream);
  const std::uint32_t least = ops::least_kept(dropout.rate);
  const Index rows = n.sentences * n.queries * n.heads;
  ops::Keep* keep = tape.arena().array_of<ops::Keep>(rows * n.keys);
  for (Index r = 0; r < rows; ++r) {
    const Index head = r % n.heads, t = r / n.heads % n.queries, b = r / n.heads / n.queries;
    ops::draw(
        numbers, noise->round(b, dropout.step + t), head, least, n.keys_of(b), keep + r * n.keys);
  }
  return {keep, static_cast<real>(1 / (1 - dropout.rate))};
}

// The gradient of distance vectors; null if they are absent or it is not wanted.
struct DistanceGradient {
  DistanceGradient(Var vectors, bool wanted, Index sentences) {
    if (vectors && wanted) rows.emplace(vectors, sentences, vectors.shape().size());
  }
  real* data() const { return rows ? rows->data() : nullptr; }
  std::optional<SentenceGradient> rows;
};

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
  const SentenceRows rows = sentence_rows(y);
  const kernels::SentencesOfRows sentences{
      rows.sentences, rows.positions, y.shape.is_steps_first()};
  return tape.expendable(tape.record(y, {x, gain, bias}, [=](View dy) {
    const SentenceGradient dgain(gain, sentences.count, n.size),
        dbias(bias, sentences.count, n.size);
    kernels::layer_norm_backward(n,
                                 x.value().data,
                                 gain.value().data,
                                 mean.data,
                                 scale.data,
                                 dy.data,
                                 x.gradient().data,
                                 sentences,
                                 dgain.data(),
                                 dbias.data());
  }));
}

Var add_positions(real factor, Var x, Var table, Index first) {
  const SentenceRows n = rows_of("add_positions", x);
  ops::require(table.shape().rank() == 2 && table.shape()[1] == n.columns && table.shape()[0] > 0,
               "add_positions",
               "the table must be [P,D] for x [..., D]",
               x,
               table);
  View y = x.tape().allocate(x.shape());
  kernels::scale(y.size(), factor, x.value().data, y.data);
  Token* ids = x.tape().arena().array_of<Token>(
      n.count());  // rows of the table, in the order of the rows of x
  for (Index b = 0; b < n.sentences; ++b)
    for (Index t = 0; t < n.positions; ++t) {
      const Index at = b * n.of_sentence + t * n.of_position,
                  row = std::min(first + t, table.shape()[0] - 1);
      ids[at / n.columns] = static_cast<Token>(row);
      kernels::add(n.columns, table.value().data + row * n.columns, y.data + at);
    }
  return x.tape().expendable(x.tape().record(y, {x, table}, [=](View dy) {
    if (View dx = x.gradient()) kernels::add_scaled(dy.size(), factor, dy.data, dx.data);
    if (!table.needs_gradient()) return;
    table.tape().keep_gradient();
    table.tape().add_rows(table, ids, dy);
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

Var rotate(Var&& x, Index heads, View turns) {
  const SentenceRows n = rows_of("rotate", x);
  ops::require(turns.shape.rank() == 2 && turns.shape[0] == n.positions &&
                   turns.shape[1] % 2 == 0 && heads * turns.shape[1] <= n.columns,
               "rotate",
               "turns must be [T,D] with an even D, and x have as many positions",
               x);
  Var y = x.tape().take(x);
  const auto turn = [=](View numbers, bool backwards) {
    for (Index b = 0; b < n.sentences; ++b)
      for (Index t = 0; t < n.positions; ++t)
        kernels::rotate(heads,
                        turns.shape[1],
                        turns.data + t * turns.shape[1],
                        backwards,
                        numbers.data + b * n.of_sentence + t * n.of_position);
  };
  turn(y.value(), false);
  // In place: turns the gradient of y into that of x.
  return x.tape().expendable(x.tape().record_in_place(y, {}, [=](View dy) { turn(dy, true); }));
}

MultiHead multi_head_attention(Heads queries,
                               Heads keys,
                               Heads values,
                               const MultiHeadSettings& settings) {
  constexpr std::string_view kName = "multi_head_attention";
  const SentenceRows q = rows_of(kName, queries.array), k = rows_of(kName, keys.array),
                     v = rows_of(kName, values.array);
  const Index size = settings.size, heads = settings.heads, count = std::ssize(settings.lengths);
  ops::require(size % heads == 0 && queries.begin + size <= q.columns &&
                   keys.begin + size <= k.columns && values.begin + size <= v.columns,
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
  const DistanceVectors distances = settings.distances;
  const kernels::MultiHeadTerms terms{distance_rows(distances, size, heads),
                                      kept_weights(tape, settings.dropout, n)};
  View context = tape.allocate(queries.array.shape().with_last(size));
  const SentenceRows c = sentence_rows(context);
  const Shape weights = Shape::steps_first({n.queries, n.sentences, n.keys});
  View mean = settings.mean ? tape.zeros(weights) : View{};
  View each = settings.each ? tape.zeros({n.queries, n.sentences, heads, n.keys}) : View{};
  const Arena::Mark mark = tape.arena().mark();
  kernels::multi_head_forward(n,
                              terms,
                              heads_of<const real>(q, queries.array.value(), queries.begin),
                              heads_of<const real>(k, keys.array.value(), keys.begin),
                              heads_of<const real>(v, values.array.value(), values.begin),
                              heads_of(c, context, 0),
                              mean.data,
                              each.data,
                              tape.allocate({kernels::multi_head_scratch(n, terms, false)}).data);
  tape.arena().rewind(mark);
  // One of dcontext and dmean is null.
  const auto backward = [=, &tape](View dcontext, View dmean) {
    View dq = queries.array.gradient(), dk = keys.array.gradient(), dv = values.array.gradient();
    const DistanceGradient dkey_rows(distances.keys, true, n.sentences),
        dvalue_rows(distances.values, static_cast<bool>(dcontext), n.sentences);
    const Arena::Mark start = tape.arena().mark();
    kernels::multi_head_backward(n,
                                 terms,
                                 heads_of<const real>(q, queries.array.value(), queries.begin),
                                 heads_of<const real>(k, keys.array.value(), keys.begin),
                                 heads_of<const real>(v, values.array.value(), values.begin),
                                 heads_of<const real>(c, dcontext, 0),
                                 dmean.data,
                                 heads_of(q, dq, queries.begin),
                                 heads_of(k, dk, keys.begin),
                                 heads_of(v, dv, values.begin),
                                 {dkey_rows.data(), dvalue_rows.data()},
                                 tape.allocate({kernels::multi_head_scratch(n, terms, true)}).data);
    tape.arena().rewind(start);
  };
  MultiHead result;
  if (mean)
    result.mean = tape.expendable(tape.record(mean,
                                              {queries.array, keys.array, distances.keys},
                                              [=](View dmean) { backward({}, dmean); }));
  if (each) result.each = tape.constant(each);
  result.context = tape.expendable(
      tape.record(context,
                  {queries.array, keys.array, values.array, distances.keys, distances.values},
                  [=](View dcontext) { backward(dcontext, {}); }));
  return result;
}

}  // namespace softalign
