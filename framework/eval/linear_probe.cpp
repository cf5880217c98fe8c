#include "framework/eval/linear_probe.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "framework/base/elementary.hpp"

namespace softalign {
namespace {

// A symmetric matrix, [size,size].
struct Square {
  Index size;
  std::vector<double> numbers = std::vector<double>(usize(size * size));
  double& at(Index i, Index j) { return numbers[usize(i * size + j)]; }
  double at(Index i, Index j) const { return numbers[usize(i * size + j)]; }
};

// Returns the dot product. Uses eight partial sums for speed, always in the same order.
double dot(const double* a, const double* b, Index size) {
  constexpr Index kLanes = 8;
  double lanes[kLanes] = {}, sum = 0;
  Index i = 0;
  for (; i + kLanes <= size; i += kLanes)
    for (Index k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  for (; i < size; ++i) sum += a[i] * b[i];
  for (const double lane : lanes) sum += lane;
  return sum;
}

Vectors centred(Vectors vectors, const std::vector<double>& mean) {
  for (Index i = 0; i < vectors.count(); ++i)
    for (Index u = 0; u < vectors.width; ++u)
      vectors.numbers[usize(i * vectors.width + u)] -= mean[usize(u)];
  return vectors;
}

std::vector<double> mean_of(const Vectors& vectors) {
  std::vector<double> mean(usize(vectors.width));
  for (Index i = 0; i < vectors.count(); ++i)
    for (Index u = 0; u < vectors.width; ++u) mean[usize(u)] += vectors[i][u];
  for (double& m : mean) m /= static_cast<double>(vectors.count());
  return mean;
}

Square products(const Vectors& vectors) {
  Square all{vectors.count()};
  for (Index i = 0; i < all.size; ++i)
    for (Index j = 0; j <= i; ++j)
      all.at(i, j) = all.at(j, i) = dot(vectors[i], vectors[j], vectors.width);
  return all;
}

// A symmetric tridiagonal matrix.
struct Tridiagonal {
  std::vector<double> diagonal, beside;
};

// Returns a matrix with the same eigenvalues, by Householder reflections (Golub and Van Loan, section 8.3.1).
Tridiagonal tridiagonal(Square a) {
  Tridiagonal all{std::vector<double>(usize(a.size)), std::vector<double>(usize(a.size))};
  std::vector<double> v, w(usize(a.size));
  for (Index k = 0; k < a.size; ++k) {
    const Index first = k + 1, rest = a.size - first;
    all.diagonal[usize(k)] = a.at(k, k);
    if (rest == 0) break;
    v.assign(&a.at(k, first), &a.at(k, first) + rest);
    const double length = std::sqrt(dot(v.data(), v.data(), rest));
    const double beside = all.beside[usize(k)] = v[0] > 0 ? -length : length;
    if (length == 0) continue;
    v[0] -= beside;  // the reflection zeroes all but the first number
    const double half = dot(v.data(), v.data(), rest) / 2;
    for (Index i = 0; i < rest; ++i)
      w[usize(i)] = dot(&a.at(first + i, first), v.data(), rest) / half;
    const double along = dot(v.data(), w.data(), rest) / (2 * half);
    for (Index i = 0; i < rest; ++i) w[usize(i)] -= along * v[usize(i)];
    for (Index i = 0; i < rest; ++i)
      for (Index j = 0; j < rest; ++j)
        a.at(first + i, first + j) -= v[usize(i)] * w[usize(j)] + w[usize(i)] * v[usize(j)];
  }
  return all;
}

// Returns the eigenvalues in descending order, by bisection with Sturm sequences (Golub and Van Loan, section 8.4.1).
std::vector<double> eigenvalues(const Square& matrix) {
  const Tridiagonal a = tridiagonal(matrix);
  double bound = 0;  // of the absolute eigenvalues: the largest absolute row sum
  for (std::size_t i = 0; i < a.diagonal.size(); ++i)
    bound = std::max(
        bound,
        std::abs(a.diagonal[i]) + std::abs(a.beside[i]) + (i > 0 ? std::abs(a.beside[i - 1]) : 0));
  const auto above = [&](double x) {  // returns the number of eigenvalues above x
    Index count = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < a.diagonal.size(); ++i) {
      const double before = i > 0 ? a.beside[i - 1] : 0;
      pivot = a.diagonal[i] - x - before * before / pivot;
      if (pivot == 0) pivot = -1e-30 * bound;
      count += pivot > 0;
    }
    return count;
  };
  std::vector<double> values;
  for (Index k = 0; k < matrix.size; ++k) {
    double low = -bound, high = k > 0 ? values.back() : bound;
    for (int halvings = 0; halvings < 60; ++halvings) {
      const double middle = (low + high) / 2;
      (above(middle) > k ? low : high) = middle;
    }
    values.push_back(high);
  }
  return values;
}

Vectors transposed(const Vectors& rows) {
  Vectors columns{rows.count(), {}};
  for (Index u = 0; u < rows.width; ++u)
    for (Index i = 0; i < rows.count(); ++i) columns.numbers.push_back(rows[i][u]);
  return columns;
}

// Computes the lower Cholesky factor in place.
void factor(Square& a) {
  for (Index j = 0; j < a.size; ++j)
    for (Index i = j; i < a.size; ++i) {
      const double rest = a.at(i, j) - dot(&a.at(i, 0), &a.at(j, 0), j);
      a.at(i, j) = i == j ? std::sqrt(rest) : rest / a.at(j, j);
    }
}

// Solves for the columns of y [size, columns], in place. a: a Cholesky factor.
void solve(const Square& a, std::vector<double>& y, Index columns) {
  const auto row = [&](Index i) { return y.data() + i * columns; };
  const auto subtract = [&](Index to, double factor, Index from) {
    for (Index c = 0; c < columns; ++c) row(to)[c] -= factor * row(from)[c];
  };
  const auto divide = [&](Index i) {
    for (Index c = 0; c < columns; ++c) row(i)[c] /= a.at(i, i);
  };
  for (Index i = 0; i < a.size; ++i) {
    for (Index k = 0; k < i; ++k) subtract(i, a.at(i, k), k);
    divide(i);
  }
  for (Index i = a.size - 1; i >= 0; --i) {
    for (Index k = i + 1; k < a.size; ++k) subtract(i, a.at(k, i), k);
    divide(i);
  }
}

}  // namespace

std::vector<double> singular_values(const Vectors& vectors) {
  if (vectors.count() == 0) return {};
  Vectors rows = centred(vectors, mean_of(vectors));
  const auto count = static_cast<double>(rows.count());
  if (rows.width < rows.count()) rows = transposed(rows);  // the smaller of the two products
  std::vector<double> values = eigenvalues(products(rows));
  for (double& value : values) value = std::sqrt(std::max(0.0, value) / count);
  return values;
}

double effective_rank(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double entropy = 0;
  for (const double value : values)
    if (value > 0) entropy -= value / sum * exact::log(value / sum);
  return sum == 0 ? 0 : exact::exp(entropy);
}

RidgeProbe::RidgeProbe(const Vectors& vectors, double ridge, Index taught)
    : taught_{vectors.width}, asked_{vectors.width} {
  for (Index i = 0; i < vectors.count(); ++i) {
    if (i % 2 == 0 && i / 2 >= taught) continue;
    std::vector<double>& to = (i % 2 == 0 ? taught_ : asked_).numbers;
    to.insert(to.end(), vectors[i], vectors[i] + vectors.width);
  }
  if (asked_.count() == 0) return;
  const std::vector<double> mean = mean_of(taught_);
  taught_ = centred(std::move(taught_), mean);
  asked_ = centred(std::move(asked_), mean);
  Square normal = products(transposed(taught_));
  double trace = 0;
  for (Index u = 0; u < normal.size; ++u) trace += normal.at(u, u);
  if (trace == 0) trace = 1;  // all vectors are equal: any ridge works
  for (Index u = 0; u < normal.size; ++u)
    normal.at(u, u) += ridge * trace / static_cast<double>(taught_.count());
  factor(normal);
  factor_ = std::move(normal.numbers);
}

ProbeCounts RidgeProbe::ask(const std::vector<Index>& classes) const {
  ProbeCounts counts;
  if (asked_.count() == 0) return counts;
  std::map<Index, Index> taught_of;  // class -> number of training vectors
  for (Index i = 0; i < taught_.count(); ++i) ++taught_of[classes[usize(2 * i)]];
  std::map<Index, Index> column_of;
  std::vector<double> share;
  for (const auto& [name, count] : taught_of) {
    column_of.emplace(name, std::ssize(column_of));
    share.push_back(static_cast<double>(count) / static_cast<double>(taught_.count()));
  }
  const Index columns = std::ssize(share), width = taught_.width;
  std::vector<double> weights(
      usize(width * columns));  // the vectors are centred, so the classes need not be centred
  for (Index i = 0; i < taught_.count(); ++i) {
    const Index column = column_of[classes[usize(2 * i)]];
    for (Index u = 0; u < width; ++u) weights[usize(u * columns + column)] += taught_[i][u];
  }
  solve({width, factor_}, weights, columns);

  const auto frequent =
      std::ranges::max_element(taught_of, {}, [](const auto& one) { return one.second; });
  for (Index i = 0; i < asked_.count(); ++i) {
    std::vector<double> found = share;
    for (Index u = 0; u < width; ++u)
      for (Index c = 0; c < columns; ++c)
        found[usize(c)] += asked_[i][u] * weights[usize(u * columns + c)];
    const Index best = std::ranges::max_element(found) - found.begin(),
                name = classes[usize(2 * i + 1)];
    const auto column = column_of.find(name);
    counts.right += column != column_of.end() && column->second == best;
    counts.most_frequent += frequent->first == name;
    ++counts.all;
  }
  return counts;
}

}  // namespace softalign
