// A bump allocator with mark and rewind. Chunks are reused, so after the longest batch a training
// step does not call malloc. Objects in an arena are never destroyed, so only trivially
// destructible types are allowed. Memory is in large pages if the system provides them.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/base/view.hpp"

namespace softalign {

class Arena {
 public:
  struct Mark {
    std::size_t chunk = 0;
    std::size_t used = 0;
    std::size_t total = 0;
  };

  // 64-byte aligned, not initialised. Throws std::bad_alloc.
  void* allocate(std::size_t bytes);
  View array(Shape shape) {
    return {static_cast<real*>(allocate(usize(shape.size()) * sizeof(real))), shape};
  }
  View zeros(Shape shape);
  template <class T>
  T* array_of(Index count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(usize(count) * sizeof(T)));
  }
  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>, "nothing in the arena is destroyed");
    return new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }

  Mark mark() const { return {chunk_, used_, total_}; }
  void rewind(Mark mark);
  std::size_t used() const { return total_; }  // bytes now in use
  std::size_t peak() const { return peak_; }   // most bytes ever in use
  std::size_t reserved() const;                // bytes of all chunks

 private:
  struct Release {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Release> bytes;
    std::size_t size = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0;  // the chunk being filled
  std::size_t used_ = 0;   // bytes used in it
  std::size_t total_ = 0;
  std::size_t peak_ = 0;
};

// Asks for large pages for this memory (Linux with transparent huge pages, "always" or "madvise"); to be called
// before the memory is written to. Large pages only save time: products read megabytes of weights repeatedly, and
// the processor caches the addresses of few small pages.
void ask_for_large_pages(void* memory, std::size_t bytes);

// Returns `count` zeros, in large pages.
std::vector<real> zeros_in_large_pages(Index count);

}  // namespace softalign
