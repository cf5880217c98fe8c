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

GemmObserver observer_of_gemm = nullptr;

void check(Matrix a, Matrix b) {
  if (a.columns != b.rows)
    throw BugError("[gemm] [{}, {}] times [{}, {}]", a.rows, a.columns, b.rows, b.columns);
}

}  // namespace

void observe_gemm(GemmObserver observer) { observer_of_gemm = observer; }

void gemm(Matrix a, Matrix b, real beta, real* c, Index c_stride) {
  check(a, b);
  if (a.rows == 0 || b.columns == 0) return;
  use_one_thread();
  if (observer_of_gemm != nullptr) observer_of_gemm(a, b, beta, c, c_stride);
#ifdef SOFTALIGN_DOUBLE
  portable_gemm(a, b, beta, c, c_stride);
#else
  const dnnl_status_t status = dnnl_sgemm(a.transposed ? 'T' : 'N',
                                          b.transposed ? 'T' : 'N',
                                          a.rows,
                                          b.columns,
                                          a.columns,
                                          1.0f,
                                          a.data,
                                          a.stride,
                                          b.data,
                                          b.stride,
                                          beta,
                                          c,
                                          c_stride);
  if (status != dnnl_success)
    throw BugError("[gemm] [{}, {}] times [{}, {}]: oneDNN says error {}",
                   a.rows,
                   a.columns,
                   b.rows,
                   b.columns,
                   static_cast<int>(status));
#endif
}

void portable_gemm(Matrix a, Matrix b, real beta, real* c, Index c_stride) {
  check(a, b);
  if (a.rows == 0 || b.columns == 0) return;
  use_one_thread();
  const auto blas = [](Matrix x) {
    return x.transposed ? cxxblas::Transpose::Trans : cxxblas::Transpose::NoTrans;
  };
  cxxblas::gemm<int>(cxxblas::StorageOrder::RowMajor,
                     blas(a),
                     blas(b),
                     static_cast<int>(a.rows),
                     static_cast<int>(b.columns),
                     static_cast<int>(a.columns),
                     real{1},
                     a.data,
                     static_cast<int>(a.stride),
                     b.data,
                     static_cast<int>(b.stride),
                     beta,
                     c,
                     static_cast<int>(c_stride));
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
