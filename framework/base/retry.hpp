// System calls that a signal interrupted, made again.
#pragma once

#include <cerrno>

namespace softalign {

// The result of `call`, a system call that returns -1 and sets errno, repeated while that is EINTR.
template <class Call>
auto retry(const Call& call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace softalign
