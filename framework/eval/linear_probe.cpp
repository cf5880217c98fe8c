#include "framework/eval/linear_probe.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "framework/base/elementary.hpp"

namespace softalign {
namespace {

// Symmetric [size,size].
struct Square {
  Index size;
  std::vector<double> numbers = std::vector<double>(usize(size * size));
  double& at(Index i, Index j) { return numbers[usize(i * size + j)]; }
  double at(Index i, Index j) const { return numbers[usize(i * size + j)]; }
};

double dot(const double* a, const double* b, Index size) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum += a[i] * b[i];
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

// Turns rows and columns p and q by the angle at which a(p,q) becomes 0 (Golub and Van Loan, section 8.5).
void rotate(Square& a, Index p, Index q) {
  const double tau = (a.at(q, q) - a.at(p, p)) / (2 * a.at(p, q));
  const double t = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
  const double c = 1 / std::sqrt(1 + t * t), s = t * c;
  for (Index k = 0; k < a.size; ++k) {
    const double kp = a.at(k, p), kq = a.at(k, q);
    a.at(k, p) = c * kp - s * kq;
    a.at(k, q) = s * kp + c * kq;
  }
  for (Index k = 0; k < a.size; ++k) {
    const double pk = a.at(p, k), qk = a.at(q, k);
    a.at(p, k) = c * pk - s * qk;
    a.at(q, k) = s * pk + c * qk;
  }
}

// By Jacobi's method, falling.
std::vector<double> eigenvalues(Square a) {
  double trace = 0;
  for (Index i = 0; i < a.size; ++i) trace += a.at(i, i);
  const double small = 1e-14 * trace / static_cast<double>(std::max<Index>(1, a.size));
  bool turned = true;
  for (int sweep = 0; turned && sweep < 30; ++sweep) {
    turned = false;
    for (Index p = 0; p < a.size; ++p)
      for (Index q = p + 1; q < a.size; ++q)
        if (std::abs(a.at(p, q)) > small) {
          rotate(a, p, q);
          turned = true;
        }
  }
  std::vector<double> values;
  for (Index i = 0; i < a.size; ++i) values.push_back(a.at(i, i));
  std::ranges::sort(values, std::greater<>());
  return values;
}

// a x = y for the columns of y [size, columns], in their place, by Cholesky's decomposition.
void solve(Square a, std::vector<double>& y, Index columns) {
  for (Index j = 0; j < a.size; ++j) {
    for (Index i = j; i < a.size; ++i) {
      const double rest = a.at(i, j) - dot(&a.at(i, 0), &a.at(j, 0), j);
      a.at(i, j) = i == j ? std::sqrt(rest) : rest / a.at(j, j);
    }
  }
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
  if (rows.width < rows.count()) {  // the smaller of the two products
    Vectors columns{rows.count(), {}};
    for (Index u = 0; u < rows.width; ++u)
      for (Index i = 0; i < rows.count(); ++i) columns.numbers.push_back(rows[i][u]);
    rows = std::move(columns);
  }
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

ProbeCounts probe_classes(const Vectors& vectors, const std::vector<Index>& classes, double ridge) {
  std::map<Index, Index> taught_of;  // class to how many teach it
  Vectors taught{vectors.width}, asked{vectors.width};
  for (Index i = 0; i < vectors.count(); ++i) {
    std::vector<double>& to = (i % 2 == 0 ? taught : asked).numbers;
    to.insert(to.end(), vectors[i], vectors[i] + vectors.width);
    if (i % 2 == 0) ++taught_of[classes[usize(i)]];
  }
  ProbeCounts counts;
  if (asked.count() == 0) return counts;
  std::map<Index, Index> column_of;
  for (const auto& [name, count] : taught_of) column_of.emplace(name, std::ssize(column_of));
  const Index columns = std::ssize(column_of), rows = taught.count();
  std::vector<double> share(usize(columns));
  for (const auto& [name, count] : taught_of)
    share[usize(column_of[name])] = static_cast<double>(count) / static_cast<double>(rows);
  std::vector<double> y(usize(rows * columns));
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < columns; ++c)
      y[usize(i * columns + c)] = (column_of[classes[usize(2 * i)]] == c ? 1 : 0) - share[usize(c)];

  const std::vector<double> mean = mean_of(taught);
  taught = centred(std::move(taught), mean);
  asked = centred(std::move(asked), mean);
  Square all = products(taught);
  double trace = 0;
  for (Index i = 0; i < rows; ++i) trace += all.at(i, i);
  if (trace == 0) trace = 1;  // all vectors are one: any ridge will do
  for (Index i = 0; i < rows; ++i) all.at(i, i) += ridge * trace / static_cast<double>(rows);
  solve(std::move(all), y, columns);

  const auto frequent =
      std::ranges::max_element(taught_of, {}, [](const auto& one) { return one.second; });
  for (Index i = 0; i < asked.count(); ++i) {
    std::vector<double> found = share;
    for (Index k = 0; k < rows; ++k) {
      const double product = dot(asked[i], taught[k], taught.width);
      for (Index c = 0; c < columns; ++c) found[usize(c)] += product * y[usize(k * columns + c)];
    }
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
