// Matrix products against xtensor's, for all transpositions and row strides.
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "framework/base/blas.hpp"
#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"
#include "framework/kernels/gemm.hpp"

using namespace softalign;

namespace {

std::vector<real> random_numbers(const char* name, Index count) {
  std::vector<real> numbers(usize(count));
  const RandomStream stream(5, name);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<real>(stream.normal(i));
  return numbers;
}

using Product = void (*)(Matrix, Matrix, bool, real*, Index, const real* bias);

void plain_gemm(Matrix a, Matrix b, bool add, real* c, Index c_stride, const real* bias) {
  gemm(a, b, add, c, c_stride, bias);
}

void check(Product product, bool ta, bool tb, Index m, Index n, Index k, Index gap, bool add) {
  const Index a_rows = ta ? k : m, a_columns = ta ? m : k, b_rows = tb ? n : k,
              b_columns = tb ? k : n;
  auto a = random_numbers("a", a_rows * (a_columns + gap)),
       b = random_numbers("b", b_rows * (b_columns + gap));
  auto c = random_numbers("c", m * (n + gap));
  const xt::xtensor<double, 2> x = as_xtensor<2>({a.data(), {a_rows, a_columns + gap}}),
                               y = as_xtensor<2>({b.data(), {b_rows, b_columns + gap}}),
                               before = as_xtensor<2>({c.data(), {m, n + gap}});
  const Matrix left{a.data(), a_rows, a_columns, a_columns + gap},
      right{b.data(), b_rows, b_columns, b_columns + gap};
  product(ta ? left.transpose() : left,
          tb ? right.transpose() : right,
          add,
          c.data(),
          n + gap,
          nullptr);
  const auto matrix = [](const xt::xtensor<double, 2>& all, Index columns, bool transposed) {
    const xt::xtensor<double, 2> own = xt::view(all, xt::all(), xt::range(0, columns));
    return transposed ? xt::xtensor<double, 2>(xt::transpose(own)) : own;
  };
  xt::xtensor<double, 2> expected = before;  // nothing is written between the rows
  auto product_of = xt::view(expected, xt::all(), xt::range(0, n));
  const xt::xtensor<double, 2> sums =
      xt::linalg::dot(matrix(x, a_columns, ta), matrix(y, b_columns, tb));
  if (add)
    product_of += sums;
  else
    product_of = sums;
  BOOST_TEST(xt::allclose(expected, as_xtensor<2>({c.data(), {m, n + gap}}), 0, 1e-4));
}

void packed_gemm(Matrix a, Matrix b, bool add, real* c, Index c_stride, const real* bias) {
  std::vector<real> panels(usize(PackedMatrix::size(b)), std::nanf(""));
  gemm(a, PackedMatrix(b, panels.data()), add, c, c_stride, bias);
}

// Packs the rows of x there, in two parts.
template <class Panels>
void put_rows(Matrix x, const Panels& panels) {
  std::vector<real> plain(usize(x.rows * x.columns));
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.columns; ++j)
      plain[usize(i * x.columns + j)] = x.data[x.transposed ? j * x.stride + i : i * x.stride + j];
  const Index half = x.rows / 4 * 2;
  panels.put(0, {plain.data(), half, x.columns});
  panels.put(half, {plain.data() + half * x.columns, x.rows - half, x.columns});
}

RowPanels row_panels(Matrix x, Index room, std::vector<real>& numbers) {
  numbers.assign(usize(RowPanels::size(room, x.columns)), std::nanf(""));
  const RowPanels panels(room, x.columns, numbers.data());
  put_rows(x, panels);
  return panels;
}

// Multiplies in as many parts as there are panels; A also from panels.
void gemm_of_panels(Matrix a, Matrix b, bool add, real* c, Index c_stride, const real* bias) {
  const Index width = RowPanels::width();
  std::vector<real> of_a, of_b;
  const RowPanels left = row_panels(a.transpose(), a.columns, of_a),
                  right = row_panels(b, b.rows, of_b);
  for (Index row = 0; row < a.rows; row += width)
    for (Index column = 0; column < b.columns; column += width)
      gemm(left.panel(row).transpose(),
           right.columns(column, std::min(width, b.columns - column)),
           add,
           c + row * c_stride + column,
           c_stride,
           bias == nullptr ? nullptr : bias + column);
}

// Both from panels with unused rows.
void gemm_of_first(Matrix a, Matrix b, bool add, real* c, Index c_stride, const real* bias) {
  const Index depth = a.columns, room = depth + 16;
  std::vector<real> of_a(usize(ColumnPanels::size(a.rows, room)), std::nanf("")), of_b;
  const ColumnPanels left(a.rows, room, of_a.data());
  put_rows(a.transpose(), left);
  gemm(left.first_columns(depth),
       row_panels(b, room, of_b).first_rows(depth),
       add,
       c,
       c_stride,
       bias);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gemm_suite)

BOOST_AUTO_TEST_CASE(products_of_all_shapes) {
  for (Product product : {Product{&plain_gemm},
                          Product{&packed_gemm},
                          Product{&gemm_of_panels},
                          Product{&gemm_of_first}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const Index gap : {0, 3})
          for (const bool add : {false, true}) {
            check(product, ta, tb, 5, 7, 9, gap, add);
            check(product, ta, tb, 1, 33, 17, gap, add);
            check(product, ta, tb, 40, 1, 3, gap, add);
          }
  const std::vector<real> b(16);
  gemm(Matrix{nullptr, 0, 4}, Matrix{b.data(), 4, 4}, false, nullptr, 4);  // nothing to do
  BOOST_CHECK_THROW(gemm(Matrix{nullptr, 2, 3}, Matrix{nullptr, 2, 3}, false, nullptr, 3),
                    BugError);
}

// On all machines, so that a record of one machine can be repeated on another.
BOOST_AUTO_TEST_CASE(every_variant_gives_the_same_bits) {
  const std::string usual = gemm_variant();
  BOOST_TEST(gemm_variants().back() == "portable");
  for (const auto& [m, n, k] : {std::array<Index, 3>{1, 1, 1}, {13, 70, 600}, {100, 40, 1100}})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const auto a = random_numbers("a", m * k), b = random_numbers("b", k * n);
        const Matrix left = ta ? Matrix{a.data(), k, m}.transpose() : Matrix{a.data(), m, k};
        const Matrix right = tb ? Matrix{b.data(), n, k}.transpose() : Matrix{b.data(), k, n};
        const auto bias = random_numbers("bias", n);
        std::vector<real> expected = random_numbers("c", m * n);
        for (Index i = 0; i < m; ++i)  // the definition in gemm_tile.hpp
          for (Index j = 0; j < n; ++j) {
            real& sum = expected[usize(i * n + j)];
            for (Index p = 0; p < k; ++p)
              sum = std::fma(
                  a[usize(ta ? p * m + i : i * k + p)], b[usize(tb ? j * k + p : p * n + j)], sum);
            sum += bias[usize(j)];
          }
        for (const std::string& variant : gemm_variants()) {
          use_gemm_variant(variant);
          std::vector<real> c = random_numbers("c", m * n);
          gemm(left, right, true, c.data(), n, bias.data());
          BOOST_TEST((c == expected), variant << ' ' << m << 'x' << n << 'x' << k);
          c = random_numbers("c", m * n);
          packed_gemm(left, right, true, c.data(), n, bias.data());
          BOOST_TEST((c == expected), variant << ", packed " << m << 'x' << n << 'x' << k);
          c = random_numbers("c", m * n);
          gemm_of_panels(left, right, true, c.data(), n, bias.data());
          BOOST_TEST((c == expected), variant << ", panels " << m << 'x' << n << 'x' << k);
          c = random_numbers("c", m * n);
          gemm_of_first(left, right, true, c.data(), n, bias.data());
          BOOST_TEST((c == expected), variant << ", room for more " << m << 'x' << n << 'x' << k);
        }
      }
  use_gemm_variant(usual);
}

// The definition of bfloat16 products in gemm_tile.hpp.
float rounded(float x) {
  if (std::fabs(x) < 0x1p-126F) return std::copysign(0.0F, x);
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const float down = std::bit_cast<float>(bits & 0xffff0000U),
              up = std::bit_cast<float>((bits & 0xffff0000U) + 0x10000U);
  if (!std::isfinite(x)) return x;
  const double below = std::fabs(static_cast<double>(x) - down),
               step = std::ldexp(1.0, std::ilogb(x) - 7);
  return below < step / 2 || (below == step / 2 && (bits & 0x10000U) == 0) ? down : up;
}

float added(float a, float b, float c) {
  const auto normal = [](float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; };
  const double x = static_cast<double>(rounded(a)) * static_cast<double>(rounded(b)) +
                   static_cast<double>(normal(c));
  const float result = normal(std::fma(rounded(a), rounded(b), normal(c)));
  // Of 24 bits, what is below this is below the normal numbers.
  return std::fabs(x) < 0x1p-126 - 0x1p-151 ? std::copysign(0.0F, result) : result;
}

// Products underflow and cancel.
std::vector<real> hard_numbers(const char* name, Index count) {
  std::vector<real> numbers = random_numbers(name, count);
  const RandomStream stream(6, name);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = std::ldexp(numbers[i], static_cast<int>(stream.uniform(i) * 146) - 140);
  return numbers;
}

// Sums near the smallest normal number, to which they may be rounded up.
BOOST_AUTO_TEST_CASE(sums_in_bfloat16_next_to_the_normal_numbers) {
  const std::string usual = gemm_variant();
  const ProductPrecision precision(Precision::bfloat16);
  constexpr float kLeast = 0x1p-126F, kNext = 0x1.000002p-126F;
  for (const float c : {kLeast, kNext, -kLeast, 0x1.000004p-126F})
    for (const float factor : {0x1p-74F, 0x1p-75F, 0x1p-76F, 0x1.8p-75F, 0x1.8p-76F})
      for (const float sign : {1.0F, -1.0F})
        for (const bool odd : {false, true}) {
          const float a[] = {odd ? 0 : factor, odd ? factor : 0};
          const float b[] = {sign * 0x1p-75F, sign * 0x1p-75F};
          const real expected = added(a[0], b[0], added(a[1], b[1], c));
          for (const std::string& variant : gemm_variants()) {
            use_gemm_variant(variant);
            real sum = c;
            gemm(Matrix{a, 1, 2}, Matrix{b, 2, 1}, true, &sum, 1);
            BOOST_TEST(std::bit_cast<std::uint32_t>(sum) == std::bit_cast<std::uint32_t>(expected),
                       variant << ": " << c << " + " << factor << " * " << b[0]);
          }
        }
  use_gemm_variant(usual);
}

BOOST_AUTO_TEST_CASE(every_variant_gives_the_same_bits_in_bfloat16) {
  const std::string usual = gemm_variant();
  const ProductPrecision precision(Precision::bfloat16);
  for (auto numbers : {random_numbers, hard_numbers})
    for (const auto& [m, n, k] :
         {std::array<Index, 3>{1, 1, 1}, {3, 5, 2}, {13, 70, 600}, {50, 33, 1101}, {100, 40, 2100}})
      for (const bool ta : {false, true})
        for (const bool tb : {false, true}) {
          const auto a = numbers("a", m * k), b = numbers("b", k * n), before = numbers("c", m * n),
                     bias = random_numbers("bias", n);
          const Matrix left = ta ? Matrix{a.data(), k, m}.transpose() : Matrix{a.data(), m, k};
          const Matrix right = tb ? Matrix{b.data(), n, k}.transpose() : Matrix{b.data(), k, n};
          std::vector<real> expected = before;
          for (Index i = 0; i < m; ++i)
            for (Index j = 0; j < n; ++j) {
              real& sum = expected[usize(i * n + j)];
              const auto add = [&](Index p) {
                sum = added(a[usize(ta ? p * m + i : i * k + p)],
                            b[usize(tb ? j * k + p : p * n + j)],
                            sum);
              };
              for (Index p = 0; p < k; p += 2) {
                if (p + 1 < k)
                  add(p + 1);
                else
                  sum = added(0, 0, sum);
                add(p);
              }
              sum += bias[usize(j)];
            }
          for (const std::string& variant : gemm_variants()) {
            use_gemm_variant(variant);
            for (Product product : {Product{&plain_gemm},
                                    Product{&packed_gemm},
                                    Product{&gemm_of_panels},
                                    Product{&gemm_of_first}}) {
              std::vector<real> c = before;
              product(left, right, true, c.data(), n, bias.data());
              Index other = 0;
              for (std::size_t i = 0; i < c.size(); ++i)
                other += !(std::bit_cast<std::uint32_t>(c[i]) ==
                               std::bit_cast<std::uint32_t>(expected[i]) ||
                           (std::isnan(c[i]) && std::isnan(expected[i])));
              BOOST_TEST(other == 0,
                         variant << ' ' << m << 'x' << n << 'x' << k << ' ' << ta << tb);
            }
          }
        }
  use_gemm_variant(usual);
}

BOOST_AUTO_TEST_SUITE_END()
