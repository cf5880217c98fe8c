// How the work on data tells how far it is.
#pragma once

#include <functional>
#include <string_view>

#include "framework/base/types.hpp"

namespace softalign {

// Called now and then, from the thread that does the work: what it does and how far it is, done of
// total (0: unknown). What it throws ends the work.
using Progress = std::function<void(std::string_view what, Index done, Index total)>;

}  // namespace softalign
