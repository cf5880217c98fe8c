// Chooses the instruction set of products.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/gemm.hpp"
#include "framework/kernels/gemm_tile.hpp"

namespace softalign {

#ifdef SOFTALIGN_DOUBLE

std::vector<std::string> gemm_variants() { return {gemm_variant()}; }
std::string gemm_variant() { return "CBLAS through xtensor-blas (double)"; }
void use_gemm_variant(const std::string&) {}

#else

namespace {

// Returns whether the processor's own instruction for pairs obeys the law (gemm_tile.hpp) in cases that reveal
// another order, other rounding or other treatment of subnormal numbers. A case is {c, a, b, result}.
[[maybe_unused]] bool obey_the_law(const GemmKernels& kernels) {
  static constexpr std::uint32_t cases[][4] = {{0xbe169157, 0x3fbb3f6f, 0xc07f4184, 0x4116fb3a},
                                               {0x00000001, 0x80c4a0a1, 0x014a1ed3, 0x80000000},
                                               {0x00800000, 0x00001a00, 0x00009a00, 0x00000000},
                                               {0x00000000, 0x1ef680ff, 0x816fa086, 0x00000000},
                                               {0x00000000, 0x1e8200e2, 0x80f79e9a, 0x80000000},
                                               {0x800032c3, 0x359296d3, 0x05b28102, 0x00000000},
                                               {0x0025368d, 0x20dda1d2, 0xa09f8180, 0x82094300}};
  return std::all_of(std::begin(cases), std::end(cases), [&](const auto& one) {
    real c[kMostColumns], b[kMostColumns];
    std::fill(std::begin(c), std::end(c), std::bit_cast<real>(one[0]));
    std::fill(std::begin(b), std::end(b), std::bit_cast<real>(one[2]));
    const auto a = std::bit_cast<real>(one[1]);
    GemmTile tile{};
    tile.k = 1;
    tile.a = &a;
    tile.b = b;
    tile.next = b;
    tile.c = c;
    tile.add = true;
    kernels.pairs[0][0][0](tile);
    return std::all_of(
        c, c + kernels.width, [&](real x) { return std::bit_cast<std::uint32_t>(x) == one[3]; });
  });
}

std::vector<const GemmKernels*> supported() {
  std::vector<const GemmKernels*> all;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512bf16") && obey_the_law(gemm_avx512_bf16()))
    all.push_back(&gemm_avx512_bf16());
  if (__builtin_cpu_supports("avx512f")) all.push_back(&gemm_avx512());
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&gemm_avx2());
#endif
#if defined(__aarch64__)
  all.push_back(&gemm_neon());
#endif
  all.push_back(&gemm_portable());
  return all;
}

// Returns the kernels that SOFTALIGN_ISA names: avx512, avx2, neon, portable, or on x86-64 sse2, for which portable is
// compiled there. Unset: the best. Throws SpecError for other names.
const GemmKernels* asked_for() {
  const char* value = std::getenv("SOFTALIGN_ISA");
  const std::string_view asked = value == nullptr ? "" : value;
  if (asked.empty()) return supported().front();
  std::string legal;
  for (const GemmKernels* one : supported()) {
    std::string name;
    for (const char c :
         std::string_view(one->name).substr(0, std::string_view(one->name).find(' ')))
      if (c != '-') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (asked == name) return one;
    if (!legal.ends_with(name)) legal += (legal.empty() ? "" : ", ") + name;
  }
#if defined(__x86_64__)
  if (asked == "sse2") return &gemm_portable();
#endif
  throw SpecError("SOFTALIGN_ISA={}: not available; this machine supports {}", asked, legal);
}

const GemmKernels*& chosen() {
  static const GemmKernels* kernels = asked_for();
  return kernels;
}

}  // namespace

const GemmKernels& kernels_in_use() { return *chosen(); }

std::vector<std::string> gemm_variants() {
  std::vector<std::string> names;
  for (const GemmKernels* one : supported()) names.push_back(one->name);
  return names;
}

std::string gemm_variant() { return chosen()->name; }

void use_gemm_variant(const std::string& name) {
  for (const GemmKernels* one : supported())
    if (one->name == name) chosen() = one;
}

#endif

}  // namespace softalign
