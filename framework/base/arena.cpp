#include "framework/base/arena.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "framework/base/types.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace softalign {

void* Arena::allocate(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(64, (bytes + 63) / 64 * 64);
  const std::size_t first_empty = chunk_ + (used_ > 0 ? 1 : 0);
  while (chunk_ < chunks_.size() && used_ + size > chunks_[chunk_].size) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    const std::size_t grown = chunks_.empty() ? std::size_t{1} << 18 : chunks_.back().size * 2;
    const std::size_t wanted = std::max(size + size / 4, std::min(grown, std::size_t{1} << 26));
    // Empty chunks are too small for an array that grows with every step, and would accumulate.
    chunks_.resize(std::min(first_empty, chunks_.size()));
    chunk_ = chunks_.size();
    chunks_.push_back({std::unique_ptr<std::byte[], Release>(
                           static_cast<std::byte*>(::operator new[](wanted, std::align_val_t{64}))),
                       wanted});
    ask_for_large_pages(chunks_.back().bytes.get(), wanted);
    used_ = 0;
  }
  void* place = chunks_[chunk_].bytes.get() + used_;
  used_ += size;
  total_ += size;
  peak_ = std::max(peak_, total_);
  return place;
}

View Arena::zeros(Shape shape) {
  View view = array(shape);
  std::memset(view.data, 0, usize(view.size()) * sizeof(real));
  return view;
}

std::size_t Arena::reserved() const {
  std::size_t sum = 0;
  for (const Chunk& chunk : chunks_) sum += chunk.size;
  return sum;
}

void Arena::rewind(Mark mark) {
  chunk_ = mark.chunk;
  used_ = mark.used;
  total_ = mark.total;
}

void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (first < last)  // only advice: other systems continue with small pages
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

std::vector<real> zeros_in_large_pages(Index count) {
  std::vector<real> numbers;
  numbers.reserve(usize(count));
  ask_for_large_pages(numbers.data(), usize(count) * sizeof(real));
  numbers.resize(usize(count));
  return numbers;
}

}  // namespace softalign
