#include "framework/base/process.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <csignal>
#include <limits>

namespace softalign {

void prepare_process() {
  set_usual_arithmetic();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);  // a step calls malloc no more, so no thread waits
#endif
}

bool has_usual_arithmetic() {
  volatile float smallest = std::numeric_limits<float>::denorm_min(), least = 0x1p-126F, one = 1,
                 half_of_last = 0x1p-24F;
  const bool takes = smallest * 2 != 0, gives = least / 2 != 0;
  const bool even = one + half_of_last == one && one + 3 * half_of_last == one + 4 * half_of_last;
  return takes && gives && even && -one - half_of_last == -one;
}

void set_usual_arithmetic() { std::fesetenv(FE_DFL_ENV); }

}  // namespace softalign
