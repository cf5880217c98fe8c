// The one door to xtensor-blas: linear algebra of BLAS and LAPACK on xtensor's arrays. Its last bits depend on the
// library and the processor, so nothing that is recorded passes through it.
#pragma once

#include <complex>  // which the bindings use and do not include

#include "framework/base/array.hpp"

#if __has_include(<xtensor-blas/xblas_config.hpp>)
#include <xtensor-blas/xblas_config.hpp>
#endif
#include <xtensor-blas/xlinalg.hpp>
