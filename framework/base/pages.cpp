#include "framework/base/pages.hpp"

#include <cstdint>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace softalign {

void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), end = begin + bytes;
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (first < last)  // advice: a system that takes none goes on with small pages
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
