// Memory in large pages, where the system lends them (Linux with transparent huge pages, "always" or "madvise").
// Products read megabytes of weights again and again, and the processor knows the places of few small pages.
#pragma once

#include <cstddef>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Asks for large pages for this memory, which nobody has written to yet. It changes nothing but the time.
void ask_for_large_pages(void* memory, std::size_t bytes);

// Zeros, in large pages.
std::vector<real> zeros_in_large_pages(Index count);

}  // namespace softalign
