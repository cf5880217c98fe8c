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

// P [T, keys of the sentence]
void probabilities(const Head& h,
                   HeadRows<const real> queries,
                   HeadRows<const real> keys,
                   real* p) {
  const Index width = h.keys();
  gemm(h.matrix(queries, h.n.queries), h.matrix(keys, width).transpose(), false, p, width);
  scale(h.n.queries * width, inverse_root(h.n.size), p, p);
  for (Index t = 0; t < h.n.queries; ++t) {
    const Index seen = h.n.causal ? std::min(width, t + 1 + h.n.keys - h.n.queries) : width;
    softmax_forward({1, width, 0, &seen}, p + t * width, p + t * width);
  }
}

// Gradients of rows of P become those of Q K^T: dp = P (dp - P . dp) / sqrt(d).
SOFTALIGN_KERNEL void energies_backward(
    Index rows, Index width, real factor, const real* p, real* dp) {
  for (Index t = 0; t < rows; ++t, p += width, dp += width) {
    const real mean = lane_sum(width, [=](Index s) { return p[s] * dp[s]; });
    for (Index s = 0; s < width; ++s) dp[s] = factor * p[s] * (dp[s] - mean);
  }
}

// dP [T, keys of the sentence] from the gradient of the mean over heads.
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
                        HeadRows<const real> queries,
                        HeadRows<const real> keys,
                        HeadRows<const real> values,
                        HeadRows<real> context,
                        real* mean,
                        real* each,
                        real* scratch) {
  for (Index b = 0; b < n.sentences; ++b)
    for (Index i = 0; i < n.heads; ++i) {
      const Head h{n, b, i};
      const Index width = h.keys();
      probabilities(h, queries, keys, scratch);
      const Matrix p{scratch, n.queries, width};
      gemm(p, h.matrix(values, width), false, h.begin(context), context.position);
      for (Index t = 0; t < n.queries; ++t) {
        const Index row = t * n.sentences + b;
        const real* weights = scratch + t * width;
        if (mean != nullptr)
          add_scaled(width, 1 / static_cast<real>(n.heads), weights, mean + row * n.keys);
        if (each != nullptr) std::copy_n(weights, width, each + (row * n.heads + i) * n.keys);
      }
    }
}

void multi_head_backward(const MultiHeadSizes& n,
                         HeadRows<const real> queries,
                         HeadRows<const real> keys,
                         HeadRows<const real> values,
                         HeadRows<const real> dcontext,
                         const real* dmean,
                         HeadRows<real> dqueries,
                         HeadRows<real> dkeys,
                         HeadRows<real> dvalues,
                         real* scratch) {
  for (Index b = 0; b < n.sentences; ++b)
    for (Index i = 0; i < n.heads; ++i) {
      const Head h{n, b, i};
      const Index width = h.keys();
      real* weights = scratch;
      real* dweights = scratch + n.queries * width;
      const Matrix p{weights, n.queries, width}, dp{dweights, n.queries, width};
      probabilities(h, queries, keys, weights);
      if (dcontext.data != nullptr) {
        const Matrix dc = h.matrix(dcontext, n.queries);
        gemm(dc, h.matrix(values, width).transpose(), false, dweights, width);
        if (dvalues.data != nullptr)
          gemm(p.transpose(), dc, true, h.begin(dvalues), dvalues.position);
      } else {
        spread_mean(h, dmean, dweights);
      }
      energies_backward(n.queries, width, inverse_root(n.size), weights, dweights);
      if (dqueries.data != nullptr)
        gemm(dp, h.matrix(keys, width), true, h.begin(dqueries), dqueries.position);
      if (dkeys.data != nullptr)
        gemm(dp.transpose(), h.matrix(queries, n.queries), true, h.begin(dkeys), dkeys.position);
    }
}

}  // namespace softalign::kernels
