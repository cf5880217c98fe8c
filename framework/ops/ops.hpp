// Differentiable operations. Every function checks its shapes (errors begin with [name] and show
// them), computes its value at once and records its backward. Letters: B sentences, S source
// positions, T target positions, D any last dimension, "..." any leading dimensions. lengths [B]:
// valid positions of each sentence, must outlive the tape's step. A Var&& argument is overwritten if
// possible: pass std::move(x), and do not read x afterwards (BugError).
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "framework/autodiff/tape.hpp"

namespace softalign {

// ---- elementwise, equal shapes unless stated
Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator*(Var a, Var b);
Var operator*(real factor, Var x);
Var add(Var&& base, Var x);       // base + x, in the memory of base
Var scale_by(Var x, Var factor);  // factor [1]
Var shift_by(Var x, Var offset);  // offset [1]
Var add_bias(Var x, Var bias);    // x [..., D] + bias [D]
// Copies a parameter x [D] to one row per sentence [B,D]. Operations that are not made for weights must
// read parameters through it, because the gradient of a parameter must not depend on the division of a
// batch.
Var by_sentence(Var x, Index sentences);
Var tanh(Var x);
Var sigmoid(Var x);
Var relu(const Var& x);
Var relu(Var&& x);
Var maxout(Var x);  // [..., 2D] -> [..., D], the larger of each pair of neighbours (Goodfellow et
                    // al. 2013)

// ---- products
Var linear(Var x, Var w);  // x [..., D] w [D, E] -> [..., E]
Var linear(Var x,
           Var w,
           Var bias,                                    // + bias [E]
           Tape::Weight how = Tape::Weight::as_it_is);  // transposed: w is [E, D]
Var add_linear(Var&& base, Var x, Var w);  // base [..., E] + x w, in the memory of base
// [B,S,D] . [B,D] -> [B,S]; 0 beyond lengths and before begins
Var batched_dot(Var keys,
                Var query,
                std::span<const Index> lengths,
                std::span<const Index> begins = {});
Var batched_dot(Var keys, Var query);  // all S positions
Var normalize_last(
    Var x, real epsilon = real(1e-6));  // x / sqrt(|x|² + epsilon²) along the last dimension

// ---- shapes
Var concat_last(Var a, Var b);                   // [..., D] [..., E] -> [..., D + E]
Var slice_last(Var x, Index begin, Index size);  // [..., D] -> [..., size]
Var reshape(Var x, const Shape& shape);          // the same numbers
Var select_step(Var x, Index step);              // [B,S,D] -> [B,D]
std::span<const Var> unstack_steps(Var&& x);     // [T,B,D] -> T times [B,D]
Var stack_steps(std::span<const Var> steps);     // T times [B,D] -> [T,B,D]
// K parts of each step side by side: T * K times [B,D_k], step by step -> [T,B,D_1 + ... + D_K]
Var stack_steps(std::span<const Var> parts, Index parts_of_a_step);
// x [B,S,D] -> [B,S,width D]: each position with its neighbours, zeros beyond the sentence and at
// padding; width is odd. Followed by a product, it is a convolution.
Var windows(Var x, Index width, std::span<const Index> lengths);
Var select_last_valid(Var x, std::span<const Index> lengths);  // [B,S,D] -> [B,D] at lengths[b] - 1
Var embedding(Var table,
              std::span<const Token> ids,
              Shape leading);  // rows of table [V,E] -> [leading..., E]; ids must outlive the step

// ---- recurrence. x: projected inputs with bias, [B,S,·] of a sequence, [B,·] of a step, overwritten.
// A sequence begins with the zero state; lengths must not increase along the batch; backwards: from
// each sentence's last position to its first; -> [B,S,U], 0 at padding. A step: previous [B,U] ->
// [B,U]. mask [B,U], or empty: products with h read h times the mask, which is the same at all steps
// (variational dropout, Gal and Ghahramani 2016) and gets no gradient.

// h' = tanh(x + h u), Elman 1990. x [.,U], u [U,U]
Var rnn_sequence(Var&& x, Var u, std::span<const Index> lengths, bool backwards, Var mask = {});
Var rnn_step(Var&& x, Var previous, Var u, Var mask = {});
// kernels/cells.hpp, Cho et al. 2014: the reset gate acts before the product. x [.,3U]: gates z, r, c
// side by side; u [U,2U], uc [U,U]
Var gru_sequence(
    Var&& x, Var u, Var uc, std::span<const Index> lengths, bool backwards, Var mask = {});
Var gru_step(Var&& x, Var previous, Var u, Var uc, Var mask = {});
// The reset gate acts after the product (Sennrich et al. 2017): z, r = sigmoid(x + q),
// c = tanh(x_c + r q_c), h' = (1 - z) h + z c. x and q = h u + b [B,3U]
Var gru_reset_after(Var&& x, Var q, Var previous);
// kernels/cells.hpp, Hochreiter and Schmidhuber 1997 with forget gate. x [.,4U]: gates i, f, g, o side by
// side; u [U,4U]
using LstmState = std::array<Var, 2>;  // h, c
LstmState lstm_sequence(
    Var&& x, Var u, std::span<const Index> lengths, bool backwards, Var mask = {});
LstmState lstm_step(Var&& x, LstmState previous, Var u, Var mask = {});
// LSTM whose previous states are weighted sums over all of them, Cheng et al. 2016, section 3.2:
//   a_ti = v . tanh(h_i w_h + queries_t + ~h_{t-1} w_summary), i < t;   s_t = softmax(a_t);
//   ~h_t = sum_i s_ti h_i, ~c_t = sum_i s_ti c_i, both 0 at first; the step reads x_t, ~h_t and ~c_t
// queries [B,S,A], w_h and w_summary [U,A], v [A]; the rest is as in lstm_sequence, forwards. weights, if not
// null, is set to s [S,B,1,S]: 0 from i = t on, undefined at t after a sentence's end.
LstmState lstmn_sequence(Var&& x,
                         Var queries,
                         Var u,
                         Var w_h,
                         Var w_summary,
                         Var v,
                         std::span<const Index> lengths,
                         View* weights = nullptr);

// ---- images [B,W,H,C], column by column. widths [B]: valid columns of each image; columns beyond
// are never read, and are 0 in the result. y = sum over the k x k pixels around each pixel (0 beyond
// the image) of x w + bias: w [k,k,C,K], k odd, its first axis along W; bias [K] -> [B,W,H,K].
Var conv2d(Var x, Var w, Var bias, std::span<const Index> widths);
// The maximum of each 2 x 2 pixels, or of fewer at an odd edge -> [B, ceil(W/2), ceil(H/2), C].
Var max_pool2d(Var x, std::span<const Index> widths);

// ---- attention over the positions [begins_b, lengths_b) of each sentence, from 0 if begins is empty;
// exactly 0 elsewhere. Both spans must outlive the step.
// v . tanh(q_b + k_bs): [B,S,U] [B,U] [U] or [B,U] -> [B,S]
Var additive_energy(
    Var keys, Var query, Var v, std::span<const Index> lengths, std::span<const Index> begins = {});
Var softmax_prefix(Var energies,
                   std::span<const Index> lengths,
                   std::span<const Index> begins = {});  // [B,S]
Var weighted_sum(Var weights,
                 Var values,
                 std::span<const Index> lengths);  // [B,S] [B,S,D] -> [B,D]
Var mean_prefix(Var values,
                std::span<const Index> lengths);  // [B,S,D] -> [B,D], of valid positions

// ---- random, on a tape with noise (layers use Dropout of nn/layers.hpp)
enum class DropoutUnit { number, vector };  // vector: the whole last dimension or nothing
struct DropoutAxes {
  int sentences = 0;
  int steps = -1;  // -1: no such axis, x belongs to `step`
  Index step = 0;
  bool steps_differ = true;  // false: all steps use the random numbers of `step`
};
// y = x keep / (1 - rate), keep = 1 with probability 1 - rate. keep is a function of the stream, the
// noise's seed and update, and of each number's example, step and index in the other axes. BugError
// without noise.
Var dropout(Var x, double rate, const RandomStream& stream, DropoutAxes axes, DropoutUnit unit);

// ---- alignment: operations that attentions use instead of, or with, the softmax. All [B,S]; 0 at padding.
// v . tanh(q_b + k_bs + c_bs w), c = attended: [B,S,U] [B,U] [U] [B,S] [U] (See et al. 2017, eq. 11)
Var coverage_energy(Var keys,
                    Var query,
                    Var v,
                    Var attended,
                    Var w,
                    std::span<const Index> lengths,
                    std::span<const Index> begins = {});
// The nearest point of the simplex, with exact zeros (Martins and Astudillo 2016).
Var sparsemax_prefix(Var energies, std::span<const Index> lengths);
// w_s = max(0, 1 + (alpha - 1) (e_s - t))^(1 / (alpha - 1)), t such that weights sum to 1; the softmax at
// alpha = 1, sparsemax at 2 (Peters et al. 2019). alpha in [1, 2]: a number, or [B,1] with a gradient
// (Correia et al. 2019).
Var entmax_prefix(Var energies, double alpha, std::span<const Index> lengths);
Var entmax_prefix(Var energies, Var alpha, std::span<const Index> lengths);
// weights * exp(-(s - c_b)² / (2 deviation²)), s from 0, centers c [B,1] (Luong et al. 2015, eq. 10)
Var gaussian_window(Var weights, Var centers, real deviation, std::span<const Index> lengths);
// w_s = p_s q_s with q_s = (1 - p_{s-1}) q_{s-1} + previous_s, p = stop (Raffel et al. 2017, eq. 9)
Var monotonic_prefix(Var stop, Var previous, std::span<const Index> lengths);
// The expected weights of a softmax over `size` positions, of which k is the last with probability
// ends_k: w_s = sum over k in [s, s + size) of ends_k exp(e_s) / sum over l in (k - size, k] of exp(e_l)
// (Chiu and Raffel 2018).
Var chunk_prefix(Var ends, Var energies, Index size, std::span<const Index> lengths);
// y[b, s] = x[b, places[b, s]] for the valid s. places [B,S] must outlive the step.
Var permute_prefix(Var x, const Index* places, std::span<const Index> lengths);

// ---- functions of distributions w [..., S]; factors [...] and positions [...] must outlive the step
Var log_likelihood(Var w, const Index* positions, const real* factors);  // sum f log w[at] -> [B]
Var entropy(Var w, const real* factors);  // -sum f sum_s w_s log w_s, nats -> [B]
// ---- transformers (Vaswani et al. 2017)
// gain [D] (x - mean) / sqrt(variance + epsilon) + bias [D], with mean and variance of the last dimension
// (Ba et al. 2016); epsilon as in PyTorch: neither paper gives a value.
Var layer_norm(Var x, Var gain, Var bias, real epsilon = real(1e-5));
// factor * x + table[min(first + position, P - 1)]; table [P,D]; x [B,S,D], [T,B,D] or [B,D]: one step
Var add_positions(real factor, Var x, Var table, Index first);
Var append_step(Var past, Var now);  // [B,t,D] [B,D] -> [B,t+1,D]; past may be empty: t = 0
// Rotary positions (Su et al. 2021, equation 34): in each of the first heads * D columns of x, as heads of
// size D, the pair (x_2i, x_2i+1) of position t becomes (x_2i cos a - x_2i+1 sin a, x_2i sin a + x_2i+1 cos a);
// turns [T,D], which must outlive the step, has cos a, sin a at 2i, 2i+1. x [B,T,.], [T,B,.] or, with T = 1,
// [B,.]. Overwrites x.
Var rotate(Var&& x, Index heads, View turns);

// Heads of size D/H side by side in columns [begin, begin + D) of an array [B,S,...], [T,B,...] or, for one
// position, [B,...].
struct Heads {
  Var array;
  Index begin = 0;
};
// Learned vectors of the clipped distance j - i from query i to key j (Shaw et al. 2018, equations 3 to 5):
// row clip + j - i, clamped to the table. If no query precedes a key, clip + 1 rows are enough.
struct DistanceVectors {
  Var keys = {};  // [rows, D] or, shared by the heads, [rows, D/H]: energies are q_i . (k_j + row)
  Var values = {};  // empty, or of the same shape: contexts are sums of p_ij (v_j + row)
  Index clip = 0;
};
// Dropout of weights, after the softmax (Vaswani et al.'s code); the identity on a tape without noise.
struct WeightDropout {
  double rate = 0;
  const RandomStream* stream = nullptr;  // read only during the call
  Index step = 0;                        // step of the first query
};
struct MultiHeadSettings {
  Index size;                           // D
  Index heads;                          // H
  std::span<const Index> lengths = {};  // [B] keys of a sentence; empty: all
  bool causal = false;                  // query t sees keys up to t, counted from the end of both
  bool mean = false;                    // return mean weights
  bool each = false;                    // return the weights of each head
  DistanceVectors distances = {};
  WeightDropout dropout = {};
};
struct MultiHead {
  Var context;  // as the queries, last dimension D: the heads side by side
  Var mean;     // [T,B,S] weights, the mean over heads, before dropout
  Var each;     // [T,B,H,S] weights, for the record, without gradient
};
// softmax(Q K^T / sqrt(D/H)) V of each head (section 3.2.2), without the projections. Does not store weights
// on the tape: backward recomputes them (dropout stores a byte for each).
MultiHead multi_head_attention(Heads queries,
                               Heads keys,
                               Heads values,
                               const MultiHeadSettings& settings);

// ---- losses
struct TokenLosses {
  Var loss;                     // [B]: factor * sum of (1 - smoothing) nll + smoothing * uniform
  std::span<const real> nll;    // [N], -log p in nats; rows with a target below 0 are skipped: 0
  std::span<const Token> best;  // [N], the most probable symbol; -1 where skipped
};

// ---- losses of attention weights, T times [B,S], one for each sentence [B]; spans must outlive the step
// factor * sum over sentences b and their positions s of (1 - sum_t w_tbs)² (Xu et al. 2015, equation
// 14), t over the sentence's own steps. This is the paper's formula; its authors' code sums over the
// sentences and takes the mean of the positions.
Var doubly_stochastic_penalty(std::span<const Var> weights,
                              std::span<const Index> positions,
                              std::span<const Index> steps,
                              real factor);
// factor * sum over t and s of min(w_tbs, c_tbs), c_tbs = sum over t' < t of w_t'bs (See et al. 2017, equations 10
// and 12).
Var coverage_penalty(std::span<const Var> weights,
                     std::span<const Index> positions,
                     std::span<const Index> steps,
                     real factor);
struct AlignedPair {
  Index step, row, position;
  real share;
};
// factor * sum over pairs of -share log(w + 1e-6) (Chen et al. 2016).
Var alignment_cross_entropy(std::span<const Var> weights,
                            std::span<const AlignedPair> pairs,
                            real factor);
Var sum(Var x);  // -> [1]

}  // namespace softalign
