// Pointer network (Vinyals et al. 2015, equation 3): the attention weights are the output,
//   p(y) = sum of the weights of the source positions that hold y,
// and </s> is written by pointing to the </s> of the source. In the paper the output is a position; here the
// positions of one symbol add up to its probability. A symbol that is not in the source has the probability
// 1e-8 instead of 0, so that its loss is finite. Words of the source that the vocabulary lacks are symbols, too
// (data/copies.hpp). The paper's model is decoder luong_lstm with input_feeding: false and score additive
// (W_1 e_j + W_2 d_i, d_i after the step), whose context and readout are not used. The layer has no parameters.
#include <algorithm>

#include "framework/plugin.hpp"

namespace softalign {
namespace {

constexpr real kNotInSource = real(1e-8);

class Pointer final : public OutputLayer {
 public:
  struct Options {
    template <class V>
    void describe(V&) {}
  };

  Pointer(const Parameters&, const OutputSizes& sizes, const Options&) : symbols_(sizes.symbols) {
    if (sizes.tied != nullptr)
      throw SpecError(
          "model.tied_embeddings: output layer 'pointer' has no weights to tie; set it to none");
  }

  State prepare(const OutputInput& input) const override { return {stack_steps(input.weights)}; }
  void loss(std::span<const OutputRows> parts,
            const Objective& objective,
            const GradientOf&,
            Workers& workers,
            Arena& scratch) const override {
    const Arena::Mark mark = scratch.mark();
    real** copied = scratch.array_of<real*>(std::ssize(parts));
    for (std::size_t i = 0; i < parts.size(); ++i)
      copied[i] = scratch.zeros({copy_columns(symbols_, parts[i].source)}).data;
    workers.run(std::ssize(parts),
                [&](Index i) { compare(parts[usize(i)], objective, copied[i]); });
    scratch.rewind(mark);
  }
  Var logits(const OutputInput& input) const override {
    const Var weights = stack_steps(input.weights);
    const SourceBatch source = input.memory.source;
    const std::span<const Index> of_rows = input.memory.rows;
    Tape& tape = weights.tape();
    const Index columns = copy_columns(symbols_, source);
    const View copied = tape.zeros(input.readout.shape().with_last(columns)),
               all = tape.allocate(copied.shape);
    const CopyRows rows(weights, source, of_rows);
    const Index count = copied.shape.rows();
    for (Index i = 0; i < count; ++i) rows[i].add_to(copied.data + i * columns);
    for (Index i = 0; i < count; ++i) {
      real* y = all.data + i * columns;
      std::fill_n(y, symbols_, log_of(0));
      std::fill_n(y + symbols_, source.positions, kImpossible);
      for (const Token v : rows[i].symbols) y[v] = log_of(copied.data[i * columns + v]);
    }
    return tape.record(all, {weights}, [=](View dall) {
      const CopyRows back(weights, source, of_rows);
      for (Index i = 0; i < count; ++i) {
        const CopyRow row = back[i];
        for (std::size_t s = 0; s < row.symbols.size(); ++s) {
          const Index at = i * columns + row.symbols[s];
          row.dweights[s] += dall.data[at] / (copied.data[at] + kNotInSource);
        }
      }
    });
  }
  bool copies() const override { return true; }
  Index multiplications() const override { return 0; }

 private:
  static real log_of(real copied) { return exact::log(copied + kNotInSource); }

  // copied [V + S]: zeros on entry and on return.
  void compare(const OutputRows& part, const Objective& objective, real* copied) const {
    const CopyRows rows(part.inputs[0], part.source);
    const real smoothing = objective.label_smoothing,
               everywhere = smoothing / static_cast<real>(symbols_);
    for (Index i = 0; i < std::ssize(part.targets); ++i) {
      const Token target = part.targets[usize(i)];
      if (target < 0) continue;
      const CopyRow row = rows[i];
      row.add_to(copied);
      const real log_total = log_total_of(row);
      part.nll[i] = log_total - log_of(copied[target]);
      part.best[i] = most_probable(row, copied);
      for (std::size_t s = 0; row.dweights != nullptr && s < row.symbols.size(); ++s) {
        const Token v = row.symbols[s];
        const real share = (v < symbols_ ? everywhere : 0) + (v == target ? 1 - smoothing : 0);
        row.dweights[s] -= objective.factor * share / (copied[v] + kNotInSource);
      }
      if (smoothing > 0) part.uniform[i] = log_total + mean_nll(row, copied);
      row.clear(copied);
    }
  }
  static Token most_probable(const CopyRow& row, const real* copied) {
    Token best = row.symbols[0];
    for (const Token v : row.symbols)
      if (copied[v] > copied[best] || (copied[v] == copied[best] && v < best)) best = v;
    return best;
  }
  // The logarithm of the sum over all symbols: the vocabulary's and those that only the sentence has.
  real log_total_of(const CopyRow& row) const {
    Index own = 0;
    for (std::size_t s = 0; s < row.symbols.size(); ++s)
      own += row.symbols[s] == symbols_ + static_cast<Index>(s);
    return exact::log(1 + static_cast<real>(symbols_ + own) * kNotInSource);
  }
  // The mean -log p over the vocabulary's symbols, without log_total; sets `copied` of these to 0.
  real mean_nll(const CopyRow& row, real* copied) const {
    const auto absent = static_cast<double>(log_of(0));
    double sum = absent * static_cast<double>(symbols_);
    for (const Token v : row.symbols)
      if (v < symbols_ && copied[v] > 0) {
        sum += static_cast<double>(log_of(copied[v])) - absent;
        copied[v] = 0;
      }
    return -static_cast<real>(sum / static_cast<double>(symbols_));
  }

  Index symbols_;
};
SOFTALIGN_OUTPUT_LAYER("pointer",
                       Pointer,
                       "the attention weights, as probabilities of source symbols (Vinyals 2015)");

}  // namespace
}  // namespace softalign
