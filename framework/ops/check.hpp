// Shape errors of operations, with a common format: "[linear] x [8, 20] w [21, 4]: the last size of
// x must be the first of w".
#pragma once

#include <fmt/format.h>

#include "framework/autodiff/tape.hpp"
#include "framework/base/error.hpp"

namespace softalign::ops {

// Throws BugError unless the condition holds; the shapes of all values are shown.
template <class... Vars>
void require(bool condition, std::string_view op, std::string_view hint, const Vars&... values) {
  if (condition) return;
  std::string shapes;
  ((shapes += " " + values.shape().str()), ...);
  throw BugError("[{}]{}: {}", op, shapes, hint);
}

}  // namespace softalign::ops
