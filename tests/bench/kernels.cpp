// The kernels that take most of the time of a training step, at the sizes of a part of 8 sentences of
// the `small` configuration. Items per second are output numbers.
#include <benchmark/benchmark.h>

#include <vector>

#include "framework/base/types.hpp"
#include "framework/kernels/attention.hpp"
#include "framework/kernels/cells.hpp"
#include "framework/kernels/cross_entropy.hpp"
#include "framework/kernels/elementwise.hpp"
#include "framework/kernels/gemm.hpp"

namespace softalign::bench {
namespace {

using Numbers = std::vector<real>;
Numbers numbers(Index count, real value) { return Numbers(usize(count), value); }

void per_item(benchmark::State& state, Index items) {
  state.SetItemsProcessed(state.iterations() * items);
}

void product(benchmark::State& state, bool transposed_a, bool transposed_b) {
  const Index m = state.range(0), n = state.range(1), k = state.range(2);
  const Numbers a = numbers(m * k, 0.1f), b = numbers(k * n, 0.1f);
  Numbers c = numbers(m * n, 0);
  const Matrix left = transposed_a ? Matrix{a.data(), k, m}.transpose() : Matrix{a.data(), m, k};
  const Matrix right = transposed_b ? Matrix{b.data(), n, k}.transpose() : Matrix{b.data(), k, n};
  for (auto _ : state) gemm(left, right, false, c.data(), n);
  state.counters["GF/s"] = benchmark::Counter(2e-9 * static_cast<double>(m * n * k),
                                              benchmark::Counter::kIsIterationInvariantRate);
}
void forward_product(benchmark::State& state) { product(state, false, false); }
void data_gradient_product(benchmark::State& state) { product(state, false, true); }
void weight_gradient_product(benchmark::State& state) { product(state, true, false); }
void product_sizes(benchmark::internal::Benchmark* b) {
  for (const Index rows : {8, 32, 640}) b->Args({rows, 768, 256});
  b->Args({32, 3000, 1000});
  b->Args({160, 8000, 128});
}
BENCHMARK(forward_product)->Apply(product_sizes);
BENCHMARK(data_gradient_product)->Apply(product_sizes);
void weight_sizes(benchmark::internal::Benchmark* b) {
  for (const Index rows : {8, 32, 640}) b->Args({256, 768, rows});
  b->Args({128, 8000, 160});
}
BENCHMARK(weight_gradient_product)->Apply(weight_sizes);

struct Memory {
  std::vector<Index> lengths;
  kernels::AttentionSizes sizes;
  Numbers keys, query, v, energies, dkeys, dquery, dv, scratch;
  explicit Memory(Index positions)
      : lengths(8, positions),
        sizes{8, positions, 256, lengths.data()},
        keys(numbers(8 * positions * 256, 0.3f)),
        query(numbers(8 * 256, 0.1f)),
        v(numbers(256, 0.2f)),
        energies(numbers(8 * positions, 0.1f)),
        dkeys(keys),
        dquery(query),
        dv(query),
        scratch(numbers(3 * 256, 0)) {}
};
void additive_energy(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state)
    kernels::additive_energy_forward(
        m.sizes, m.keys.data(), m.query.data(), m.v.data(), m.energies.data());
  per_item(state, static_cast<Index>(m.keys.size()));
}
BENCHMARK(additive_energy)->Arg(20)->Arg(80);
void additive_energy_gradient(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state)
    kernels::additive_energy_backward(m.sizes,
                                      m.keys.data(),
                                      m.query.data(),
                                      m.v.data(),
                                      m.energies.data(),
                                      m.dkeys.data(),
                                      m.dquery.data(),
                                      m.dv.data(),
                                      m.scratch.data());
  per_item(state, static_cast<Index>(m.keys.size()));
}
BENCHMARK(additive_energy_gradient)->Arg(20)->Arg(80);
void weighted_sum(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state)
    kernels::weighted_sum(m.sizes, m.energies.data(), m.keys.data(), false, m.query.data());
  per_item(state, static_cast<Index>(m.keys.size()));
}
BENCHMARK(weighted_sum)->Arg(20)->Arg(80);
void batched_dot(benchmark::State& state) {
  Memory m(state.range(0));
  for (auto _ : state)
    kernels::batched_dot(m.sizes, m.keys.data(), m.query.data(), false, m.energies.data());
  per_item(state, static_cast<Index>(m.keys.size()));
}
BENCHMARK(batched_dot)->Arg(20)->Arg(80);

void softmax_cross_entropy(benchmark::State& state) {
  const Index rows = 64, vocabulary = state.range(0);
  Numbers logits = numbers(rows * vocabulary, 0.1f), nll = numbers(rows, 0);
  std::vector<Token> targets(64, 3), best(64);
  for (auto _ : state)
    kernels::softmax_cross_entropy(
        rows, vocabulary, targets.data(), 1e-3f, logits.data(), nll.data(), best.data(), true);
  per_item(state, rows * vocabulary);
}
BENCHMARK(softmax_cross_entropy)->Arg(8000)->Arg(30000);

void tanh(benchmark::State& state) {
  const Numbers x = numbers(state.range(0), 0.3f);
  Numbers y = x;
  for (auto _ : state) kernels::tanh_forward(state.range(0), x.data(), y.data());
  per_item(state, state.range(0));
}
BENCHMARK(tanh)->Arg(4096);

void gru_gates(benchmark::State& state) {
  const Index rows = 8, units = 256;
  const kernels::GruSizes n{rows, units, 3 * units, units};
  const Numbers h = numbers(rows * units, 0.3f);
  Numbers gates = numbers(rows * 3 * units, 0.1f), reset = h, output = h;
  for (auto _ : state) {
    kernels::gru_gates_forward(n, h.data(), gates.data(), reset.data());
    kernels::gru_output_forward(n, h.data(), gates.data(), output.data());
  }
  per_item(state, rows * units);
}
BENCHMARK(gru_gates);

void lstm_gates(benchmark::State& state) {
  const Index rows = 8, units = 256;
  const kernels::LstmSizes n{rows, units, 4 * units, units, units};
  const Numbers c = numbers(rows * units, 0.3f);
  Numbers gates = numbers(rows * 4 * units, 0.1f), output = c, output_c = c;
  for (auto _ : state)
    kernels::lstm_forward(n, c.data(), gates.data(), output.data(), output_c.data());
  per_item(state, rows * units);
}
BENCHMARK(lstm_gates);

}  // namespace
}  // namespace softalign::bench
