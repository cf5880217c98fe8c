#include "framework/base/floating_point.hpp"

#include <cfenv>
#include <limits>

namespace softalign {

bool is_usual_floating_point() {
  volatile float smallest = std::numeric_limits<float>::denorm_min(), least = 0x1p-126F, one = 1,
                 half_of_last = 0x1p-24F;
  const bool takes = smallest * 2 != 0, gives = least / 2 != 0;
  const bool even = one + half_of_last == one && one + 3 * half_of_last == one + 4 * half_of_last;
  return takes && gives && even && -one - half_of_last == -one;
}

void set_usual_floating_point() { std::fesetenv(FE_DFL_ENV); }

}  // namespace softalign
