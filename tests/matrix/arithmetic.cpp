// Prints a digest for each kind of arithmetic that results rest on. test_compilers.py compiles it with other compilers and
// for another processor; the digests must not differ.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "framework/base/elementary.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/kernels/vector_math.hpp"

using namespace softalign;

namespace {

// FNV-1a of bits.
class Digest {
 public:
  void add(float x) { add_bits(std::bit_cast<std::uint32_t>(x != x ? 0.0f : x)); }
  void add(double x) { add_bits(std::bit_cast<std::uint64_t>(x != x ? 0.0 : x)); }
  std::uint64_t value() const { return value_; }

 private:
  void add_bits(std::uint64_t bits) {
    for (int i = 0; i < 64; i += 8) value_ = (value_ ^ (bits >> i & 0xff)) * 0x100000001b3;
  }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t next_bits(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}

// Returns numbers of magnitudes from 2^-9 to 2^10; one in a thousand is subnormal.
std::vector<real> numbers(Index count, std::uint64_t state) {
  std::vector<real> all(usize(count));
  for (real& x : all) {
    const auto bits = static_cast<std::uint32_t>(next_bits(state));
    const std::uint32_t exponent = bits % 1000 == 0 ? 0 : 118 + bits % 19;
    x = std::bit_cast<float>((bits & 0x807fffff) | exponent << 23);
  }
  return all;
}

std::uint64_t products(Precision precision) {
  const ProductPrecision here(precision);
  Digest digest;
  for (const Index m : {1, 2, 7, 13, 33})
    for (const Index n : {1, 5, 16, 31, 70})
      for (const Index k : {1, 2, 9, 64, 257}) {
        const std::vector<real> a = numbers(m * k, 1), b = numbers(k * n, 2), bias = numbers(n, 3);
        for (const bool transposed : {false, true})
          for (const bool add : {false, true}) {
            std::vector<real> c = numbers(m * n, 4);
            const Matrix left =
                transposed ? Matrix{a.data(), k, m}.transpose() : Matrix{a.data(), m, k};
            const Matrix right =
                transposed ? Matrix{b.data(), n, k}.transpose() : Matrix{b.data(), k, n};
            gemm(left, right, add, c.data(), n, add ? nullptr : bias.data());
            for (const real x : c) digest.add(x);
          }
      }
  return digest.value();
}

// Every 2^12th float.
template <class Function>
std::uint64_t over_floats(Function function) {
  Digest digest;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 1 << 12)
    digest.add(function(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  return digest.value();
}

template <class Function>
std::uint64_t over_doubles(Function function) {
  Digest digest;
  std::uint64_t state = 5;
  for (int i = 0; i < 5000; ++i)
    digest.add(function((static_cast<double>(next_bits(state)) - 0x1p31) * 0x1p-28));
  return digest.value();
}

std::uint64_t sums() {
  Digest digest;
  for (const Index count : {1, 15, 16, 17, 1000}) {
    const std::vector<real> x = numbers(count, 6);
    digest.add(lane_sum(count, [&](Index i) { return x[usize(i)]; }));
  }
  return digest.value();
}

void print(const char* name, std::uint64_t value) {
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(value));
}

}  // namespace

int main() {
  for (const std::string& variant : gemm_variants()) {
    use_gemm_variant(variant);
    const std::uint64_t float32 = products(Precision::float32),
                        bfloat16 = products(Precision::bfloat16);
    if (variant == gemm_variants().front()) {
      print("products", float32);
      print("products of bfloat16", bfloat16);
    }
    std::fprintf(stderr,
                 "%s %016llx %016llx\n",
                 variant.c_str(),
                 static_cast<unsigned long long>(float32),
                 static_cast<unsigned long long>(bfloat16));
  }
  print("sums", sums());
  print("vector exp", over_floats([](float x) { return vector_exp(x); }));
  print("vector tanh", over_floats([](float x) { return vector_tanh(x); }));
  print("vector logistic", over_floats([](float x) { return vector_sigmoid(x); }));
  print("log of floats", over_floats([](float x) { return exact::log(x); }));
  print("exp", over_doubles([](double x) { return exact::exp(x); }));
  print("log", over_doubles([](double x) { return exact::log(x); }));
  print("pow", over_doubles([](double x) { return exact::pow(x < 0 ? -x : x, 0.37 * x); }));
  print("sin", over_doubles([](double x) { return exact::sin(x); }));
  print("cos", over_doubles([](double x) { return exact::cos(x); }));
}
