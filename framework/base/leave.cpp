#include "framework/base/leave.hpp"

#include "framework/base/error.hpp"

namespace softalign {

std::atomic<bool> leaves_step = false;

void throw_left_step() { throw Interrupted("interrupted in the midst of a step"); }

}  // namespace softalign
