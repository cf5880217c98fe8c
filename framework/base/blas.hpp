// The one door to xtensor-blas: its bindings of CBLAS, for any scalar type. Whoever includes it links BLAS::BLAS,
// which the program does not.
#pragma once

#include <complex>  // which the bindings use and do not include

#if __has_include(<xtensor-blas/xblas_config.hpp>)
#include <xtensor-blas/xblas_config.hpp>
#endif
#include <xflens/cxxblas/cxxblas.cxx>
