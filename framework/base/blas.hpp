// The only header that includes xtensor-blas: BLAS and LAPACK on xtensor arrays. Its last bits depend on the
// library and the processor, so recorded numbers never come from it.
#pragma once

#include <complex>  // which the bindings use and do not include

#include "framework/base/array.hpp"

#if __has_include(<xtensor-blas/xblas_config.hpp>)
#include <xtensor-blas/xblas_config.hpp>
#endif
#include <xtensor-blas/xlinalg.hpp>
