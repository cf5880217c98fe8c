// Matrix products against xtensor's, for all transpositions and with rows that lie apart.
#include <boost/test/unit_test.hpp>

#include "framework/base/array.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/kernels/gemm.hpp"

using namespace softalign;

namespace {

std::vector<real> random_numbers(const char* name, Index count) {
  std::vector<real> numbers(static_cast<std::size_t>(count));
  const RandomStream stream(5, name);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<real>(stream.normal(i));
  return numbers;
}

using Product = decltype(&gemm);

void check(Product product, bool ta, bool tb, Index m, Index n, Index k, Index gap, real beta) {
  const Index a_rows = ta ? k : m, a_columns = ta ? m : k, b_rows = tb ? n : k,
              b_columns = tb ? k : n;
  auto a = random_numbers("a", a_rows * (a_columns + gap)),
       b = random_numbers("b", b_rows * (b_columns + gap));
  auto c = random_numbers("c", m * (n + gap));
  xt::xtensor<double, 2> x = as_xtensor<2>({a.data(), {a_rows, a_columns + gap}}),
                         y = as_xtensor<2>({b.data(), {b_rows, b_columns + gap}});
  const auto before = c;
  const Matrix left{a.data(), a_rows, a_columns, a_columns + gap},
      right{b.data(), b_rows, b_columns, b_columns + gap};
  product(ta ? left.transpose() : left, tb ? right.transpose() : right, beta, c.data(), n + gap);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n + gap; ++j) {
      const auto at = static_cast<std::size_t>(i * (n + gap) + j);
      if (j >= n) {  // between the rows nothing is written
        BOOST_TEST(c[at] == before[at]);
        continue;
      }
      double sum = static_cast<double>(beta) * static_cast<double>(before[at]);
      for (Index l = 0; l < k; ++l) sum += (ta ? x(l, i) : x(i, l)) * (tb ? y(j, l) : y(l, j));
      BOOST_TEST(std::abs(sum - static_cast<double>(c[at])) < 1e-4);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_suite)

BOOST_AUTO_TEST_CASE(products_of_all_shapes) {
  for (Product product : {&gemm, &portable_gemm})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const Index gap : {0, 3})
          for (const real beta : {real{0}, real{1}}) {
            check(product, ta, tb, 5, 7, 9, gap, beta);
            check(product, ta, tb, 1, 33, 17, gap, beta);
            check(product, ta, tb, 40, 1, 3, gap, beta);
          }
  check(&gemm, false, false, 0, 4, 4, 0, 0);
  BOOST_CHECK_THROW(gemm({nullptr, 2, 3}, {nullptr, 2, 3}, 0, nullptr, 3), BugError);
}

BOOST_AUTO_TEST_SUITE_END()
