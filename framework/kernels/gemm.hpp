// Matrix products, row-major, with leading dimensions. One thread inside, always: threads belong to
// the shards.
#pragma once

#include <string>

#include "framework/base/types.hpp"

namespace softalign {

enum class Transpose : bool { no = false, yes = true };

// C [m, n] = op(A) [m, k] op(B) [k, n] + beta C; lda, ldb, ldc are the row strides of A, B and C as
// they are stored.
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
          Index ldc);

// The same through xtensor-blas: what the double build uses, and the reference for the other.
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
                   Index ldc);

// Which library computes the products and for which instruction set: "oneDNN 2.6.3 (AVX512_CORE)".
std::string gemm_library();

}  // namespace softalign
