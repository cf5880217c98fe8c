// Counts the calls of operator new. One file of a test program includes this: it replaces the operators of the whole program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace softalign {

inline std::atomic<long> calls_of_new{0};

#ifdef SOFTALIGN_SANITIZE

// A sanitizer needs operators of its own.
inline bool allocations_are_counted() {
  std::puts("allocations are not counted under a sanitizer: the tests of their number are skipped");
  return false;
}

#else

inline bool allocations_are_counted() { return true; }

inline void* counted(std::size_t size, std::size_t alignment) {
  ++calls_of_new;
  const std::size_t whole = (size + alignment - 1) / alignment * alignment;
  if (void* place = std::aligned_alloc(alignment, whole == 0 ? alignment : whole)) return place;
  throw std::bad_alloc();
}

#endif

}  // namespace softalign

#ifndef SOFTALIGN_SANITIZE
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"  // these do match
void* operator new(std::size_t size) { return softalign::counted(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return softalign::counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
#endif
