// Shapes and non-owning views of row-major arrays, whose memory the arena and the parameter store
// own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

#include "framework/base/types.hpp"

namespace softalign {

// Up to four dimensions. The first counts sentences, or in [T,B,...] the second; a shape records which of the two,
// so that the rows of a sentence can be found (SentenceRows).
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<Index> sizes) : rank_(static_cast<int>(sizes.size())) {
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  }

  static Shape steps_first(std::initializer_list<Index> sizes) {  // [T,B,...]
    Shape shape(sizes);
    shape.steps_first_ = true;
    return shape;
  }

  int rank() const { return rank_; }
  bool is_steps_first() const { return steps_first_; }
  Index sentences() const { return rank_ == 0 ? 1 : (*this)[steps_first_ ? 1 : 0]; }
  Index operator[](int axis) const { return sizes_[usize(axis)]; }
  Index last() const { return rank_ == 0 ? 1 : (*this)[rank_ - 1]; }
  Index size() const {
    Index product = 1;
    for (int axis = 0; axis < rank_; ++axis) product *= (*this)[axis];
    return product;
  }
  Index rows() const { return last() == 0 ? 0 : size() / last(); }  // product of all but last()
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
  Shape and_last(Index size) const {  // appends a dimension
    Shape out = *this;
    out.sizes_[usize(out.rank_++)] = size;
    return out;
  }
  bool operator==(const Shape&) const = default;
  std::string str() const {  // "[8, 20, 256]", or "[20, 8, 256] steps first"
    std::string text = "[";
    for (int axis = 0; axis < rank_; ++axis)
      text += fmt::format("{}{}", axis == 0 ? "" : ", ", (*this)[axis]);
    return text + (steps_first_ ? "] steps first" : "]");
  }

 private:
  int rank_ = 0;
  bool steps_first_ = false;
  std::array<Index, kMaxRank> sizes_{};
};

// A non-owning row-major array; may be empty.
struct View {
  real* data = nullptr;
  Shape shape;

  explicit operator bool() const { return data != nullptr; }
  Index size() const { return shape.size(); }
  real* begin() const { return data; }
  real* end() const { return data + shape.size(); }
};

// The rows [columns] of an array by sentence: one row, or one per position. With `lengths`, a sentence has
// fewer rows; otherwise the rows after its end add nothing to a sum.
struct SentenceRows {
  const real* data = nullptr;
  Index columns = 0;
  Index sentences = 0;
  Index positions = 1;
  Index of_sentence = columns;  // stride in numbers
  Index of_position = 0;
  const Index* lengths = nullptr;  // [sentences]

  Index positions_of(Index sentence) const {
    return lengths == nullptr ? positions : lengths[sentence];
  }
  const real* row(Index sentence, Index position) const {
    return data + sentence * of_sentence + position * of_position;
  }
  Index count() const { return sentences * positions; }
};

// The rows of a whole array [B,D], [B,S,D], [T,B,D] or of more dimensions.
inline SentenceRows sentence_rows(View array) {
  const Shape& shape = array.shape;
  const Index columns = shape.last(), sentences = shape.rank() == 1 ? 1 : shape.sentences(),
              positions = sentences == 0 ? 0 : shape.rows() / sentences;
  if (shape.is_steps_first())
    return {array.data, columns, sentences, positions, columns, sentences * columns};
  return {array.data, columns, sentences, positions, positions * columns, columns};
}

}  // namespace softalign
