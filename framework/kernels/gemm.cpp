#include "framework/kernels/gemm.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include "framework/base/blas.hpp"
#include "framework/base/error.hpp"

#if defined(OPENBLAS_VERSION) || __has_include(<openblas_config.h>)
extern "C" void openblas_set_num_threads(int);
#define SOFTALIGN_OPENBLAS 1
#endif

namespace softalign {
namespace {

// oneDNN asks OpenMP for threads; the setting belongs to the calling thread.
void use_one_thread() {
  thread_local bool done = false;
  if (done) return;
  omp_set_num_threads(1);
#ifdef SOFTALIGN_OPENBLAS
  openblas_set_num_threads(1);
#endif
  done = true;
}

#ifndef SOFTALIGN_DOUBLE
const char* isa_name() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_sse41:
      return "SSE41";
    case dnnl_cpu_isa_avx:
      return "AVX";
    case dnnl_cpu_isa_avx2:
      return "AVX2";
    case dnnl_cpu_isa_avx512_core:
      return "AVX512_CORE";
    case dnnl_cpu_isa_avx512_core_vnni:
      return "AVX512_CORE_VNNI";
    case dnnl_cpu_isa_avx512_core_bf16:
      return "AVX512_CORE_BF16";
    default:
      return "other";
  }
}
#endif

}  // namespace

void gemm(Transpose transpose_a,
          Transpose transpose_b,
          Index m,
          Index n,
          Index k,
          const real* a,
          Index lda,
          const real* b,
          Index ldb,
          real beta,
          real* c,
          Index ldc) {
  if (m == 0 || n == 0) return;
  use_one_thread();
#ifdef SOFTALIGN_DOUBLE
  portable_gemm(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
#else
  const dnnl_status_t status = dnnl_sgemm(transpose_a == Transpose::yes ? 'T' : 'N',
                                          transpose_b == Transpose::yes ? 'T' : 'N',
                                          m,
                                          n,
                                          k,
                                          1.0f,
                                          a,
                                          lda,
                                          b,
                                          ldb,
                                          beta,
                                          c,
                                          ldc);
  if (status != dnnl_success)
    throw BugError("[gemm] {}x{}x{}: oneDNN says error {}", m, n, k, static_cast<int>(status));
#endif
}

void portable_gemm(Transpose transpose_a,
                   Transpose transpose_b,
                   Index m,
                   Index n,
                   Index k,
                   const real* a,
                   Index lda,
                   const real* b,
                   Index ldb,
                   real beta,
                   real* c,
                   Index ldc) {
  if (m == 0 || n == 0) return;
  use_one_thread();
  const auto blas = [](Transpose t) {
    return t == Transpose::yes ? cxxblas::Transpose::Trans : cxxblas::Transpose::NoTrans;
  };
  cxxblas::gemm<int>(cxxblas::StorageOrder::RowMajor,
                     blas(transpose_a),
                     blas(transpose_b),
                     static_cast<int>(m),
                     static_cast<int>(n),
                     static_cast<int>(k),
                     real{1},
                     a,
                     static_cast<int>(lda),
                     b,
                     static_cast<int>(ldb),
                     beta,
                     c,
                     static_cast<int>(ldc));
}

std::string gemm_library() {
#ifdef SOFTALIGN_DOUBLE
  return "CBLAS through xtensor-blas (double)";
#else
  const dnnl_version_t* version = dnnl_version();
  return fmt::format(
      "oneDNN {}.{}.{} ({})", version->major, version->minor, version->patch, isa_name());
#endif
}

}  // namespace softalign
