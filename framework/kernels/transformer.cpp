#include "framework/kernels/transformer.hpp"

#include <algorithm>

#include "framework/kernels/attention.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/kernels/vector_math.hpp"

namespace softalign::kernels {

SOFTALIGN_KERNEL void layer_norm_forward(LayerNormSizes n,
                                         const real* x,
                                         const real* gain,
                                         const real* bias,
                                         real* y,
                                         real* mean,
                                         real* scale) {
  const real size = static_cast<real>(n.size);
  for (Index row = 0; row < n.rows; ++row, x += n.size, y += n.size) {
    const real m = lane_sum(n.size, [=](Index d) { return x[d]; }) / size;
    const real variance = lane_sum(n.size, [=](Index d) { return (x[d] - m) * (x[d] - m); }) / size;
    const real s = 1 / std::sqrt(variance + n.epsilon);
    for (Index d = 0; d < n.size; ++d) y[d] = gain[d] * ((x[d] - m) * s) + bias[d];
    mean[row] = m;
    scale[row] = s;
  }
}

// With x^ = (x - mean) s and g = gain dy: dx = s (g - mean(g) - x^ mean(g x^)).
SOFTALIGN_KERNEL void layer_norm_backward(LayerNormSizes n,
                                          const real* x,
                                          const real* gain,
                                          const real* mean,
                                          const real* scale,
                                          const real* dy,
                                          real* dx,
                                          SentencesOfRows sentences,
                                          real* dgain,
                                          real* dbias) {
  const real size = static_cast<real>(n.size);
  for (Index row = 0; row < n.rows; ++row, x += n.size, dy += n.size) {
    const real m = mean[row], s = scale[row];
    const Index of_sentence = sentences.of(row) * n.size;
    if (dgain != nullptr)
      for (Index d = 0; d < n.size; ++d) dgain[of_sentence + d] += dy[d] * ((x[d] - m) * s);
    if (dbias != nullptr)
      for (Index d = 0; d < n.size; ++d) dbias[of_sentence + d] += dy[d];
    if (dx == nullptr) continue;
    const real level = lane_sum(n.size, [=](Index d) { return gain[d] * dy[d]; }) / size;
    const real slope =
        lane_sum(n.size, [=](Index d) { return gain[d] * dy[d] * ((x[d] - m) * s); }) / size;
    for (Index d = 0; d < n.size; ++d)
      dx[row * n.size + d] += s * (gain[d] * dy[d] - level - (x[d] - m) * s * slope);
  }
}

namespace {

// One head of one sentence.
struct Head {
  const MultiHeadSizes& n;
  Index sentence, head;

  Index keys() const { return n.keys_of(sentence); }
  Index seen(Index query) const {  // number of keys that the query sees
    return n.causal ? std::min(keys(), query + 1 + n.keys - n.queries) : keys();
  }
  template <class Number>
  Number* begin(HeadRows<Number> rows) const {
    return rows.data + sentence * rows.sentence + head * n.size;
  }
  template <class Number>
  Matrix matrix(HeadRows<Number> rows, Index count) const {
    return {begin(rows), count, n.size, rows.position};
  }
};

real inverse_root(Index size) { return 1 / std::sqrt(static_cast<real>(size)); }

// Distance terms of one head: sums over the keys that share a row of the table, and products with its rows.
struct Distances {
  const Head& h;
  const DistanceRows& d;

  Matrix table(const real* vectors) const {
    return {vectors + h.head * d.head, d.rows, h.n.size, d.stride};
  }
  // Adds sums^T from, with sums [T, rows] and from [T, d], to the gradient of a table.
  void add_to_table(real* all, const real* sums, Matrix from) const {
    const Matrix of_rows{sums, h.n.queries, d.rows};
    gemm(of_rows.transpose(),
         from,
         true,
         all + h.sentence * d.rows * d.stride + h.head * d.head,
         d.stride);
  }
  // Calls f(offset in [T, keys], offset in [T, rows]) for each key that a query sees.
  template <class F>
  void for_each(F f) const {
    const Index width = h.keys(), before = h.n.keys - h.n.queries;
    for (Index t = 0; t < h.n.queries; ++t)
      for (Index s = 0, seen = h.seen(t); s < seen; ++s)
        f(t * width + s, t * d.rows + std::clamp(d.clip + s - t - before, Index{0}, d.rows - 1));
  }
  // to [T, keys] += x A^T, read for each key in the row of its distance. scratch: T * rows numbers.
  void add_products(Matrix x, const real* vectors, real* to, real* scratch) const {
    gemm(x, table(vectors).transpose(), false, scratch, d.rows);
    for_each([=](Index key, Index row) { to[key] += scratch[row]; });
  }
  // Writes [T, rows], the sums of weights [T, keys] over the keys of each distance.
  void sums(const real* weights, real* to) const {
    std::fill_n(to, h.n.queries * d.rows, real{0});
    for_each([=](Index key, Index row) { to[row] += weights[key]; });
  }
};

// Computes P [T, keys of the sentence]; keys: K^T.
void probabilities(const Head& h,
                   const DistanceRows& distances,
                   HeadRows<const real> queries,
                   Matrix keys,
                   real* p,
                   real* scratch) {
  const Index width = h.keys();
  const Matrix q = h.matrix(queries, h.n.queries);
  gemm(q, keys, false, p, width);
  if (distances.keys != nullptr)
    Distances{h, distances}.add_products(q, distances.keys, p, scratch);
  scale(h.n.queries * width, inverse_root(h.n.size), p, p);
  for (Index t = 0; t < h.n.queries; ++t) {
    const Index seen = h.seen(t);
    softmax_forward({1, width, 0, &seen}, p + t * width, p + t * width);
  }
}

// to = from keep scale, [T, keys of the sentence]
void drop(const Head& h, const KeptWeights& kept, const real* from, real* to) {
  const Index width = h.keys();
  for (Index t = 0; t < h.n.queries; ++t, from += width, to += width) {
    const std::uint8_t* keep =
        kept.keep + ((h.sentence * h.n.queries + t) * h.n.heads + h.head) * h.n.keys;
    for (Index s = 0; s < width; ++s) to[s] = keep[s] != 0 ? kept.scale * from[s] : real{0};
  }
}

// Turns gradients of rows of P into those of Q K^T, in place: dp = P (dp - P . dp) / sqrt(d).
SOFTALIGN_KERNEL void energies_backward(
    Index rows, Index width, real factor, const real* p, real* dp) {
  for (Index t = 0; t < rows; ++t, p += width, dp += width) {
    const real mean = lane_sum(width, [=](Index s) { return p[s] * dp[s]; });
    for (Index s = 0; s < width; ++s) dp[s] = factor * p[s] * (dp[s] - mean);
  }
}

// Computes dP [T, keys of the sentence] from the gradient of the mean over heads.
void spread_mean(const Head& h, const real* dmean, real* dp) {
  const Index width = h.keys();
  for (Index t = 0; t < h.n.queries; ++t)
    scale(width,
          1 / static_cast<real>(h.n.heads),
          dmean + (t * h.n.sentences + h.sentence) * h.n.keys,
          dp + t * width);
}

}  // namespace

void multi_head_forward(const MultiHeadSizes& n,
                        const MultiHeadTerms& terms,
                        HeadRows<const real> queries,
                        HeadRows<const real> keys,
                        HeadRows<const real> values,
                        HeadRows<real> context,
                        real* mean,
                        real* each,
                        real* scratch) {
  const DistanceRows& distances = terms.distances;
  for (Index b = 0; b < n.sentences; ++b) {
    const Index width = n.keys_of(b);
    real* of_rows = scratch + n.queries * width;
    // A step of a search has one query. Its product would transpose the keys of one head at a time and
    // read every row of memory once per head.
    real* turned = n.queries == 1 ? of_rows + distances.rows : nullptr;
    if (turned != nullptr)
      transpose(
          {keys.data + b * keys.sentence, width, n.heads * n.size, keys.position}, turned, width);
    for (Index i = 0; i < n.heads; ++i) {
      const Head h{n, b, i};
      probabilities(h,
                    distances,
                    queries,
                    turned != nullptr ? Matrix{turned + i * n.size * width, n.size, width}
                                      : h.matrix(keys, width).transpose(),
                    scratch,
                    of_rows);
      for (Index t = 0; t < n.queries; ++t) {
        const Index row = t * n.sentences + b;
        const real* weights = scratch + t * width;
        if (mean != nullptr)
          add_scaled(width, 1 / static_cast<real>(n.heads), weights, mean + row * n.keys);
        if (each != nullptr) std::copy_n(weights, width, each + (row * n.heads + i) * n.keys);
      }
      if (terms.kept.keep != nullptr) drop(h, terms.kept, scratch, scratch);
      const Matrix p{scratch, n.queries, width};
      gemm(p, h.matrix(values, width), false, h.begin(context), context.position);
      if (distances.values == nullptr) continue;
      const Distances d{h, distances};
      d.sums(scratch, of_rows);
      gemm(Matrix{of_rows, n.queries, distances.rows},
           d.table(distances.values),
           true,
           h.begin(context),
           context.position);
    }
  }
}

void multi_head_backward(const MultiHeadSizes& n,
                         const MultiHeadTerms& terms,
                         HeadRows<const real> queries,
                         HeadRows<const real> keys,
                         HeadRows<const real> values,
                         HeadRows<const real> dcontext,
                         const real* dmean,
                         HeadRows<real> dqueries,
                         HeadRows<real> dkeys,
                         HeadRows<real> dvalues,
                         DistanceGradients ddistances,
                         real* scratch) {
  const DistanceRows& distances = terms.distances;
  for (Index b = 0; b < n.sentences; ++b)
    for (Index i = 0; i < n.heads; ++i) {
      const Head h{n, b, i};
      const Distances d{h, distances};
      const Index width = h.keys();
      real* weights = scratch;
      real* dweights = scratch + n.queries * width;
      real* of_rows = dweights + n.queries * width;
      const Matrix dp{dweights, n.queries, width};
      const Matrix q = h.matrix(queries, n.queries);
      probabilities(h, distances, queries, h.matrix(keys, width).transpose(), weights, of_rows);
      if (dcontext.data != nullptr) {
        const Matrix dc = h.matrix(dcontext, n.queries);
        const real* used = weights;
        if (terms.kept.keep != nullptr) {
          drop(h, terms.kept, weights, dweights);
          used = dweights;
        }
        if (dvalues.data != nullptr)
          gemm(Matrix{used, n.queries, width}.transpose(),
               dc,
               true,
               h.begin(dvalues),
               dvalues.position);
        if (ddistances.values != nullptr) {
          d.sums(used, of_rows);
          d.add_to_table(ddistances.values, of_rows, dc);
        }
        gemm(dc, h.matrix(values, width).transpose(), false, dweights, width);
        if (distances.values != nullptr) d.add_products(dc, distances.values, dweights, of_rows);
        if (terms.kept.keep != nullptr) drop(h, terms.kept, dweights, dweights);
      } else {
        spread_mean(h, dmean, dweights);
      }
      energies_backward(n.queries, width, inverse_root(n.size), weights, dweights);
      if (dqueries.data != nullptr)
        gemm(dp, h.matrix(keys, width), true, h.begin(dqueries), dqueries.position);
      if (dkeys.data != nullptr) gemm(dp.transpose(), q, true, h.begin(dkeys), dkeys.position);
      if (distances.keys == nullptr) continue;
      d.sums(dweights, of_rows);
      if (dqueries.data != nullptr)
        gemm(Matrix{of_rows, n.queries, distances.rows},
             d.table(distances.keys),
             true,
             h.begin(dqueries),
             dqueries.position);
      if (ddistances.keys != nullptr) d.add_to_table(ddistances.keys, of_rows, q);
    }
}

void rotate(Index heads, Index size, const real* turn, bool backwards, real* row) {
  const real sign = backwards ? real{-1} : real{1};
  for (Index h = 0; h < heads; ++h, row += size)
    for (Index i = 0; i < size; i += 2) {
      const real a = row[i], b = row[i + 1], cosine = turn[i], sine = sign * turn[i + 1];
      row[i] = a * cosine - b * sine;
      row[i + 1] = a * sine + b * cosine;
    }
}

}  // namespace softalign::kernels
