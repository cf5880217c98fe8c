#include "framework/kernels/gemm_tile.hpp"

#if defined(__AVX512F__)
#include "framework/kernels/gemm_avx512.hpp"

namespace softalign {
const GemmKernels& gemm_avx512() {
  static const GemmKernels kernels = gemm_kernels<Avx512, EmulatedPairs<Avx512>>("AVX-512");
  return kernels;
}

}  // namespace softalign
#endif
