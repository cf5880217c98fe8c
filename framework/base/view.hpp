// Shapes and non-owning views of row-major arrays. Nothing here owns memory: the arena and the
// parameter store do.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "framework/base/types.hpp"

namespace softalign {

// Up to four dimensions, by value.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : rank_(static_cast<int>(sizes.size())) {
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  }

  int rank() const { return rank_; }
  Index operator[](int axis) const { return sizes_[usize(axis)]; }
  Index last() const { return rank_ == 0 ? 1 : (*this)[rank_ - 1]; }
  Index size() const {
    Index product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
    return product;
  }
  Index rows() const { return last() == 0 ? 0 : size() / last(); }  // product of all but the last
  Shape with_last(Index size) const {
    Shape out = *this;
    out.sizes_[usize(rank_ - 1)] = size;
    return out;
  }
  Shape without_first() const {
    Shape out;
    out.rank_ = rank_ - 1;
    std::copy(sizes_.begin() + 1, sizes_.begin() + rank_, out.sizes_.begin());
    return out;
  }
  bool operator==(const Shape&) const = default;
  std::string str() const {  // "[8, 20, 256]"
    std::string text = "[";
    for (int axis = 0; axis < rank_; ++axis)
      text += fmt::format("{}{}", axis == 0 ? "" : ", ", (*this)[axis]);
    return text + "]";
  }

 private:
  int rank_ = 0;
  std::array<Index, kMaxRank> sizes_{};
};

// A row-major array somewhere else; empty when there is none.
struct View {
  real* data = nullptr;
  Shape shape;

  explicit operator bool() const { return data != nullptr; }
  Index size() const { return shape.size(); }
  real* begin() const { return data; }
  real* end() const { return data + shape.size(); }
};

}  // namespace softalign
