// The functions of the library that linear_algebra.cpp loads.
#include "framework/base/blas.hpp"
#include "framework/base/linear_algebra.hpp"

namespace softalign {

extern "C" void softalign_least_squares(const Array2d& x,
                                        const Array1d& y,
                                        double cut,
                                        Array1d& found) {
  const Array2d column = xt::view(y, xt::all(), xt::newaxis());
  found = xt::col(std::get<0>(xt::linalg::lstsq(x, column, cut)), 0);
}

extern "C" void softalign_singular_values(const Array2d& x, SingularValues& found) {
  auto [u, s, vt] = xt::linalg::svd(x, /*full_matrices=*/false);
  found = {u, s, vt};
}

}  // namespace softalign
