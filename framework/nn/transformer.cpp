#include "framework/nn/transformer.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/work.hpp"

#include <cmath>

namespace softalign {

TransformerInput::TransformerInput(const Parameters& p,
                                   Index embedding,
                                   const TransformerOptions& options)
    : learned_(options.positions == "learned"
                   ? p.add("positions", {options.max_positions, options.units}, init::normal(0.1))
                   : nullptr),
      scale_(std::sqrt(static_cast<real>(options.units))),
      dropout_(p, "dropout", options.dropout) {
  if (embedding != options.units)
    projection_.emplace(p, "projection", embedding, options.units, Linear::Bias::no);
  for (Index i = 0; i < options.units; ++i)
    rates_.push_back(
        exact::pow(10000.0, -static_cast<double>(i / 2 * 2) / static_cast<double>(options.units)));
}

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
Var TransformerInput::sinusoids(Tape& tape, Index first, Index count) const {
  const Index size = std::ssize(rates_);
  View table = tape.allocate({count, size});
  for (Index t = 0; t < count; ++t)
    for (Index i = 0; i < size; ++i) {
      const double angle = static_cast<double>(first + t) * rates_[usize(i)];
      table.data[t * size + i] =
          static_cast<real>(i % 2 == 0 ? exact::sin(angle) : exact::cos(angle));
    }
  return tape.constant(table);
}

Var TransformerInput::operator()(Var x, Index first) const {
  Tape& tape = x.tape();
  const Index count = sentence_rows(View{nullptr, x.shape()}).positions;
  Var sum = learned_ != nullptr ? add_positions(scale_, x, tape.parameter(*learned_), first)
                                : add_positions(scale_, x, sinusoids(tape, first, count), 0);
  return Residual::drop_out(dropout_, sum, first);
}

SelfAttention::SelfAttention(const Parameters& p,
                             std::string_view name,
                             const TransformerOptions& options)
    : units_(options.units),
      heads_(options.heads),
      projections_(p / name,
                   "queries_keys_values",
                   options.units,
                   3 * options.units,
                   Linear::Bias::no,
                   init::glorot(3)),
      output_(p / name, "output", options.units, options.units, Linear::Bias::no) {}

MultiHead SelfAttention::within(Var x, std::span<const Index> lengths, bool each) const {
  Var all = projections_(x);
  MultiHead heads =
      multi_head_attention({all, 0},
                           {all, units_},
                           {all, 2 * units_},
                           {.size = units_, .heads = heads_, .lengths = lengths, .each = each});
  heads.context = output_(heads.context);
  return heads;
}

Var SelfAttention::causal(Var x) const {
  Var all = projections_(x);
  const auto at = [&](Index begin) { return Heads{all, begin}; };
  return output_(
      multi_head_attention(
          at(0), at(units_), at(2 * units_), {.size = units_, .heads = heads_, .causal = true})
          .context);
}

Var SelfAttention::step(Var x, Var& past) const {
  Var all = projections_(x);
  past = append_step(past, slice_last(all, units_, 2 * units_));
  return output_(
      multi_head_attention({all, 0}, {past, 0}, {past, units_}, {.size = units_, .heads = heads_})
          .context);
}

MultiHead CrossAttention::operator()(
    Var x, Var memory, Index begin, std::span<const Index> lengths, Wanted wanted) const {
  count_energies(lengths, heads_ * sentence_rows(View{nullptr, x.shape()}).positions);
  MultiHead heads = multi_head_attention({queries_(x), 0},
                                         {memory, begin},
                                         {memory, begin + units_},
                                         {.size = units_,
                                          .heads = heads_,
                                          .lengths = lengths,
                                          .mean = wanted >= Wanted::mean,
                                          .each = wanted == Wanted::each});
  heads.context = output_(heads.context);
  return heads;
}

}  // namespace softalign
