// Pointer-generator (See et al. 2017, section 2.2): writes a symbol of the vocabulary or copies one of the source,
//   P(y) = p_gen P_vocab(y) + (1 - p_gen) sum of the weights of the source positions that hold y   (equation 9),
//   p_gen = sigmoid(w_h . h* + w_s . s + w_x . x + b)                                              (equation 8),
//   P_vocab = softmax(W r + b), r the decoder's readout.
// h* and s are the outputs of the decoder's step: state and context side by side, or the attentional vector made
// from them in a Luong decoder with input feeding; x is the embedding of the previous symbol. The paper's 1,153 weights
// of p_gen count h and c of its LSTM as s; the outputs of a step hold h alone. Its P_vocab has two linear layers: the
// first is the decoder's readout. Its coverage is score coverage (equation 11) with train.coverage (equation 12).
// Words of the source that the vocabulary lacks are symbols that can only be copied (data/copies.hpp); label smoothing
// is over the vocabulary's symbols only.
#include <algorithm>
#include <functional>
#include <limits>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

class PointerGenerator final : public OutputLayer {
 public:
  struct Options {
    std::string gate = "step";
    template <class V>
    void describe(V& v) {
      v("gate",
        gate,
        "what p_gen reads: step, the outputs of the decoder's step (state and context) and the "
        "embedding of the symbol before (See et al. 2017, equation 8); readout, the readout alone",
        one_of("step", "readout"));
    }
  };

  PointerGenerator(const Parameters& p, const OutputSizes& sizes, const Options& options)
      : symbols_(sizes.symbols),
        multiplications_(sizes.readout * sizes.symbols),
        reads_step_(options.gate == "step"),
        projection_(p, "projection", sizes.readout, sizes.symbols, sizes.tied),
        gate_(p / "gate", options.gate, reads_step_ ? sizes.outputs : sizes.readout, 1) {
    if (!reads_step_) return;
    if (sizes.outputs == 0)
      throw SpecError(
          "model.output.gate: step reads the outputs of the decoder's steps, which this decoder "
          "does not hand on; set it to readout");
    gate_symbol_.emplace(p / "gate", "symbol", sizes.embedding, 1, Linear::Bias::no);
  }

  State prepare(const OutputInput& input) const override {
    return {input.readout, p_gen(input), stack_steps(input.weights)};
  }
  void loss(std::span<const OutputRows> parts,
            const Objective& objective,
            const GradientOf& gradient,
            Workers& workers,
            Arena& scratch) const override {
    const auto compare_row = [&](Index part, Index row, real* logits, bool wanted) {
      compare(parts[usize(part)], row, objective, logits, wanted);
    };
    const RowLoss row_loss = std::ref(compare_row);  // by reference, to avoid an allocation
    projected_loss(projection_, parts, objective, gradient, workers, scratch, &row_loss);
  }
  Var logits(const OutputInput& input) const override {
    const Var logits = projection_(input.readout), gate = p_gen(input),
              weights = stack_steps(input.weights);
    const SourceBatch source = input.memory.source;
    const std::span<const Index> of_rows = input.memory.rows;
    Tape& tape = logits.tape();
    const Index count = logits.shape().rows(), columns = copy_columns(symbols_, source);
    const View all = tape.allocate(logits.shape().with_last(columns)),
               copied = tape.zeros(all.shape), sums = tape.allocate({count});
    kernels::log_sum_exp(count, symbols_, logits.value().data, sums.data);
    const CopyRows rows(weights, source, of_rows);
    for (Index i = 0; i < count; ++i) {
      const real p_gen = gate.value().data[i], shift = exact::log(p_gen) - sums.data[i];
      const real* x = logits.value().data + i * symbols_;
      real *y = all.data + i * columns, *c = copied.data + i * columns;
      for (Index v = 0; v < symbols_; ++v) y[v] = x[v] + shift;
      std::fill_n(y + symbols_, source.positions, kImpossible);
      rows[i].add_to(c);
      for (const Token v : rows[i].symbols)
        if (v >= symbols_)
          y[v] = log_of(Mixed{p_gen, 0, c[v]});
        else if (c[v] > 0)
          y[v] = log_of(Mixed{p_gen, vector_exp(x[v] - sums.data[i]), c[v]});
    }
    return tape.record(all, {logits, gate, weights}, [=, this, &tape](View dall) {
      const CopyRows back(weights, source, of_rows);
      const View dlogits = logits.gradient();
      const Arena::Mark mark = tape.arena().mark();
      real *written = tape.allocate({symbols_}).data, *dlog = tape.allocate({columns}).data;
      for (Index i = 0; i < count; ++i) {
        const real* x = logits.value().data + i * symbols_;
        for (Index v = 0; v < symbols_; ++v) written[v] = vector_exp(x[v] - sums.data[i]);
        std::copy_n(dall.data + i * columns, columns, dlog);
        differentiate({dlog, usize(columns)}, copied.data + i * columns, gate, i, back[i], written);
        for (Index v = 0; dlogits && v < symbols_; ++v)
          dlogits.data[i * symbols_ + v] += written[v];
      }
      tape.arena().rewind(mark);
    });
  }
  View bias() const override { return projection_.bias(); }
  bool copies() const override { return true; }
  Var p_gen(const OutputInput& input) const override {
    Var sum = gate_(reads_step_ ? input.outputs : input.readout);
    if (gate_symbol_) sum = sum + (*gate_symbol_)(input.embedded);
    return sigmoid(sum);
  }
  Index multiplications() const override { return multiplications_; }

 private:
  // The probability of a symbol, mixed from those of writing and of copying it.
  struct Mixed {
    real p_gen, written, copied;
    real operator()() const {
      return std::max(p_gen * written + (1 - p_gen) * copied, std::numeric_limits<real>::min());
    }
  };
  static real log_of(const Mixed& p) { return exact::log(p()); }

  // Computes the loss of row i, as a RowLoss does.
  void compare(
      const OutputRows& part, Index i, const Objective& objective, real* x, bool wanted) const {
    thread_local Arena scratch;
    scratch.rewind({});
    const Index columns = copy_columns(symbols_, part.source);
    real* copied = scratch.zeros({columns}).data;
    const Token target = part.targets[usize(i)], written = in_vocabulary(target, symbols_);
    const Var gate = part.inputs[1];
    const real p_gen = gate.value().data[i], smoothing = objective.label_smoothing;
    const CopyRow row = CopyRows(part.inputs[2], part.source)[i];
    row.add_to(copied);
    real nll;
    Token best;
    kernels::softmax_cross_entropy(1, symbols_, &written, 1, x, &nll, &best, true);
    x[written] = vector_exp(-nll);  // x is now P_vocab
    const auto p = [&](Index v) { return Mixed{p_gen, v < symbols_ ? x[v] : 0, copied[v]}; };
    for (const Token v : row.symbols)
      if (p(v)() > p(best)() || (p(v)() == p(best)() && v < best)) best = v;
    part.best[i] = best;
    part.nll[i] =
        target >= symbols_ || copied[target] > 0 ? -log_of(p(target)) : nll - exact::log(p_gen);
    if (smoothing > 0) {
      double sum = 0;
      for (Index v = 0; v < symbols_; ++v) sum -= static_cast<double>(log_of(p(v)));
      part.uniform[i] = static_cast<real>(sum / static_cast<double>(symbols_));
    }
    if (!wanted && !gate.needs_gradient() && row.dweights == nullptr) return;
    real* dlog = scratch.zeros({columns}).data;
    std::fill_n(dlog, symbols_, -objective.factor * smoothing / static_cast<real>(symbols_));
    dlog[target] -= objective.factor * (1 - smoothing);
    differentiate({dlog, usize(columns)}, copied, gate, i, row, x);
  }

  // Adds the gradients of p_gen and of the weights. dlog [V + S]: the gradient of log P, overwritten. written:
  // P_vocab, which becomes the gradient of its logits.
  void differentiate(std::span<real> dlog,
                     const real* copied,
                     Var gate,
                     Index i,
                     const CopyRow& row,
                     real* written) const {
    const real p_gen = gate.value().data[i];
    double dgate = 0, mean = 0;
    for (std::size_t v = 0; v < dlog.size(); ++v) {
      if (dlog[v] == 0) continue;
      const real of_vocabulary = v < usize(symbols_) ? written[v] : 0;
      dlog[v] /= Mixed{p_gen, of_vocabulary, copied[v]}();
      dgate += static_cast<double>(dlog[v] * (of_vocabulary - copied[v]));
      mean += static_cast<double>(dlog[v] * of_vocabulary);
    }
    if (const View d = gate.gradient()) d.data[i] += static_cast<real>(dgate);
    for (std::size_t s = 0; row.dweights != nullptr && s < row.symbols.size(); ++s)
      row.dweights[s] += (1 - p_gen) * dlog[usize(row.symbols[s])];
    const auto shift = static_cast<real>(mean);
    for (Index v = 0; v < symbols_; ++v) written[v] *= p_gen * (dlog[usize(v)] - shift);
  }

  Index symbols_, multiplications_;
  bool reads_step_;
  Projection projection_;
  Linear gate_;
  std::optional<Linear> gate_symbol_;
};
SOFTALIGN_OUTPUT_LAYER("pointer_generator",
                       PointerGenerator,
                       "writes a symbol or copies one of the source (See et al. 2017)");

}  // namespace
}  // namespace softalign
