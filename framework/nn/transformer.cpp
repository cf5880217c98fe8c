#include "framework/nn/transformer.hpp"
#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/work.hpp"

#include <cmath>

namespace softalign {

TransformerInput::TransformerInput(const Parameters& p,
                                   Index embedding,
                                   const TransformerOptions& options)
    : added_(options.positions == "sinusoidal" ? Added::sinusoids
             : options.positions == "learned"  ? Added::learned
                                               : Added::nothing),
      learned_(added_ == Added::learned
                   ? p.add("positions", {options.max_positions, options.units}, init::normal(0.1))
                   : nullptr),
      scale_(std::sqrt(static_cast<real>(options.units))),
      dropout_(p, "dropout", options.dropout) {
  if (embedding != options.units)
    projection_.emplace(p, "projection", embedding, options.units, Linear::Bias::no);
  const Index rates = added_ == Added::sinusoids      ? options.units
                      : options.positions == "rotary" ? options.units / options.heads
                                                      : 0;
  for (Index i = 0; i < rates; ++i)
    rates_.push_back(
        exact::pow(10000.0, -static_cast<double>(i / 2 * 2) / static_cast<double>(rates)));
}

// PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d))
View TransformerInput::sinusoids(Tape& tape, Index first, Index count) const {
  const Index size = std::ssize(rates_);
  View table = tape.allocate({count, size});
  for (Index t = 0; t < count; ++t)
    for (Index i = 0; i < size; ++i) {
      const double angle = static_cast<double>(first + t) * rates_[usize(i)];
      table.data[t * size + i] =
          static_cast<real>(i % 2 == 0 ? exact::sin(angle) : exact::cos(angle));
    }
  return table;
}

View TransformerInput::turns(Tape& tape, Index first, Index count) const {
  View table = sinusoids(tape, first, count);
  for (Index i = 0; i < table.size(); i += 2) std::swap(table.data[i], table.data[i + 1]);
  return table;
}

Var TransformerInput::operator()(Var x, Index first) const {
  Tape& tape = x.tape();
  const Index count = sentence_rows(View{nullptr, x.shape()}).positions;
  const auto sum = [&] {
    switch (added_) {
      case Added::sinusoids:
        return add_positions(scale_, x, tape.constant(sinusoids(tape, first, count)), 0);
      case Added::learned:
        return add_positions(scale_, x, tape.parameter(*learned_), first);
      case Added::nothing:
        break;
    }
    return tape.expendable(scale_ * x);
  };
  return Residual::drop_out(dropout_, sum(), first);
}

Positions TransformerInput::positions(const Var& x, Index first) const {
  if (rates_.empty() || added_ != Added::nothing) return {first, {}};
  const Index count = sentence_rows(View{nullptr, x.shape()}).positions;
  return {first, turns(x.tape(), first, count)};
}

SelfAttention::SelfAttention(const Parameters& p,
                             std::string_view name,
                             const TransformerOptions& options,
                             Sees sees)
    : units_(options.units),
      heads_(options.heads),
      projections_(p / name,
                   "queries_keys_values",
                   options.units,
                   3 * options.units,
                   Linear::Bias::no,
                   init::glorot(3)),
      dropout_(p, name, options.attention_dropout),
      output_(p / name, "output", options.units, options.units, Linear::Bias::no) {
  if (options.positions != "relative") return;
  clip_ = options.clip.value_or(16);
  const Shape shape = {
      sees == Sees::all ? 2 * clip_ + 1 : clip_ + 1,
      options.relative_shared.value_or(false) ? options.units / options.heads : options.units};
  distance_keys_ = (p / name).add("distance_keys", shape, init::glorot());
  if (options.relative_values.value_or(false))
    distance_values_ = (p / name).add("distance_values", shape, init::glorot());
}

// Queries, keys and values side by side [..., 3d].
Var SelfAttention::projected(Var x, const Positions& positions) const {
  Var all = projections_(x);
  return positions.turns ? rotate(std::move(all), 2 * heads_, positions.turns) : all;
}

MultiHead SelfAttention::attend(Heads queries,
                                Heads keys,
                                Heads values,
                                MultiHeadSettings settings,
                                const Positions& positions) const {
  Tape& tape = queries.array.tape();
  if (distance_keys_ != nullptr)
    settings.distances = {tape.parameter(*distance_keys_),
                          distance_values_ != nullptr ? tape.parameter(*distance_values_) : Var(),
                          clip_};
  settings.dropout = dropout_.at(positions.first);
  MultiHead heads = multi_head_attention(queries, keys, values, settings);
  heads.context = output_(heads.context);
  return heads;
}

MultiHead SelfAttention::within(Var x,
                                std::span<const Index> lengths,
                                const Positions& positions,
                                bool each) const {
  Var all = projected(x, positions);
  return attend({all, 0},
                {all, units_},
                {all, 2 * units_},
                {.size = units_, .heads = heads_, .lengths = lengths, .each = each},
                positions);
}

MultiHead SelfAttention::causal(Var x, const Positions& positions, bool each) const {
  Var all = projected(x, positions);
  return attend({all, 0},
                {all, units_},
                {all, 2 * units_},
                {.size = units_, .heads = heads_, .causal = true, .each = each},
                positions);
}

MultiHead SelfAttention::step(Var x, Var& past, const Positions& positions, bool each) const {
  Var all = projected(x, positions);
  past = append_step(past, slice_last(all, units_, 2 * units_));
  return attend({all, 0},
                {past, 0},
                {past, units_},
                {.size = units_, .heads = heads_, .each = each},
                positions);
}

MultiHead CrossAttention::operator()(Var x,
                                     Var memory,
                                     Index begin,
                                     std::span<const Index> lengths,
                                     Wanted wanted,
                                     Index first) const {
  count_energies(lengths, heads_ * sentence_rows(View{nullptr, x.shape()}).positions);
  MultiHead heads = multi_head_attention({queries_(x), 0},
                                         {memory, begin},
                                         {memory, begin + units_},
                                         {.size = units_,
                                          .heads = heads_,
                                          .lengths = lengths,
                                          .mean = wanted >= Wanted::mean,
                                          .each = wanted == Wanted::each,
                                          .dropout = dropout_.at(first)});
  heads.context = output_(heads.context);
  return heads;
}

}  // namespace softalign
