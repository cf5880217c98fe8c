#include "framework/base/abandon.hpp"

#include "framework/base/error.hpp"

namespace softalign {

namespace detail {
constinit thread_local const std::atomic<bool>* abandon_flag = nullptr;

void throw_abandoned() { throw Interrupted("interrupted in the midst of a step"); }
}  // namespace detail

AbandonScope::AbandonScope(const std::atomic<bool>* flag) : before_(detail::abandon_flag) {
  detail::abandon_flag = flag;
}

AbandonScope::~AbandonScope() { detail::abandon_flag = before_; }

const std::atomic<bool>* AbandonScope::flag() { return detail::abandon_flag; }

}  // namespace softalign
