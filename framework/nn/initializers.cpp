#include "framework/nn/initializers.hpp"

#include <cmath>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/types.hpp"

namespace softalign::init {
namespace {

void draw_uniform(double bound, View value, const RandomStream& stream) {
  for (Index i = 0; i < value.size(); ++i)
    value.data[i] = static_cast<real>(
        bound * (2 * static_cast<double>(stream.uniform(static_cast<std::uint64_t>(i))) - 1));
}

}  // namespace

Initializer zeros() { return constant(0); }

Initializer constant(double number) {
  return [number](View value, const RandomStream&) {
    std::fill(value.begin(), value.end(), static_cast<real>(number));
  };
}

Initializer blocks(std::vector<double> values) {
  return [values = std::move(values)](View value, const RandomStream&) {
    const Index each = value.size() / std::ssize(values);
    for (Index i = 0; i < value.size(); ++i)
      value.data[i] = static_cast<real>(values[usize(i / each)]);
  };
}

Initializer normal(double deviation) {
  const auto draw = [deviation](View value, const RandomStream& stream) {
    for (Index i = 0; i < value.size(); ++i)
      value.data[i] = static_cast<real>(deviation * stream.normal(static_cast<std::uint64_t>(i)));
  };
  return {draw, Initializer::Kind::weights};
}

Initializer uniform(double bound) {
  const auto draw = [bound](View value, const RandomStream& stream) {
    draw_uniform(bound, value, stream);
  };
  return {draw, Initializer::Kind::weights};
}

Initializer glorot(Index blocks) {
  const auto draw = [blocks](View value, const RandomStream& stream) {
    const double fan = static_cast<double>(value.shape.rows() + value.shape.last() / blocks);
    draw_uniform(std::sqrt(6 / fan), value, stream);
  };
  return {draw, Initializer::Kind::weights};
}

Initializer glorot_rows(Index rows) {
  const auto draw = [rows](View value, const RandomStream& stream) {
    draw_uniform(std::sqrt(6 / static_cast<double>(rows + value.shape.last())), value, stream);
  };
  return {draw, Initializer::Kind::weights};
}

Initializer orthogonal(Index blocks) {
  const auto draw = [blocks](View value, const RandomStream& stream) {
    const Index n = value.shape[0];
    if (value.shape != Shape{n, blocks * n})
      throw BugError(
          "[orthogonal] {} is not {} square blocks side by side", value.shape.str(), blocks);
    const auto size = usize(n);
    for (Index block = 0; block < blocks; ++block) {
      std::vector<std::vector<double>> rows(size, std::vector<double>(size));
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j)
          rows[i][j] = stream.normal((static_cast<std::uint64_t>(block) * size + i) * size + j);
        for (int pass = 0; pass < 2;
             ++pass)  // the second pass of Gram-Schmidt removes the rounding of the first
          for (std::size_t k = 0; k < i; ++k) {
            double along = 0;
            for (std::size_t j = 0; j < size; ++j) along += rows[i][j] * rows[k][j];
            for (std::size_t j = 0; j < size; ++j) rows[i][j] -= along * rows[k][j];
          }
        double length = 0;
        for (double x : rows[i]) length += x * x;
        for (std::size_t j = 0; j < size; ++j) {
          rows[i][j] /= std::sqrt(length);
          value.data[static_cast<Index>(i) * blocks * n + block * n + static_cast<Index>(j)] =
              static_cast<real>(rows[i][j]);
        }
      }
    }
  };
  return {draw, Initializer::Kind::orthogonal};
}

}  // namespace softalign::init
