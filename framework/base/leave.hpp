// The way out of a step that takes too long to be finished: an exception from its midst. Thrown only
// where nothing is half changed that outlives the step.
#pragma once

#include <atomic>

namespace softalign {

// Set by whoever cannot wait for the end of the step, such as a signal's handler. Never unset.
extern std::atomic<bool> leaves_step;

[[noreturn]] void throw_left_step();

// For the loops of long steps, in any thread. Throws Interrupted once leaves_step is set; costs a load.
inline void leave_step_if_asked() {
  if (leaves_step.load(std::memory_order_relaxed)) [[unlikely]]
    throw_left_step();
}

}  // namespace softalign
