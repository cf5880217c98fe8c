// The only header that includes xtensor-blas: BLAS and LAPACK on xtensor arrays. The last bits of a result depend on
// the library and the processor, so recorded numbers are never computed with it.
#pragma once

#include <complex>  // used but not included by xtensor-blas

#include "framework/base/array.hpp"

#if __has_include(<xtensor-blas/xblas_config.hpp>)
#include <xtensor-blas/xblas_config.hpp>
#endif
#include <xtensor-blas/xlinalg.hpp>
