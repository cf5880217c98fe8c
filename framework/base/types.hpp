// The scalar and index types of the whole framework.
#pragma once

#include <cstdint>

namespace softalign {

// float in the program; the same sources built with SOFTALIGN_DOUBLE serve the gradient checks.
#ifdef SOFTALIGN_DOUBLE
using real = double;
#else
using real = float;
#endif

using Index = std::int64_t;  // sizes, positions, counts
using Token = std::int32_t;  // index of a symbol in a vocabulary

}  // namespace softalign
