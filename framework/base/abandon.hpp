// The way out of a step that takes too long to be finished: an exception from its midst. Thrown only
// where nothing is half changed that outlives the step.
#pragma once

#include <atomic>

namespace softalign {

// As long as it lives, this thread and the Workers that it makes abandon their steps once the flag is set, by a
// signal's handler or another thread. The flag must outlive it. Scopes nest; the innermost flag counts.
class AbandonScope {
 public:
  explicit AbandonScope(const std::atomic<bool>* flag);
  ~AbandonScope();
  AbandonScope(const AbandonScope&) = delete;
  AbandonScope& operator=(const AbandonScope&) = delete;

  static const std::atomic<bool>* flag();  // of this thread; may be null

 private:
  const std::atomic<bool>* before_;
};

namespace detail {
extern constinit thread_local const std::atomic<bool>* abandon_flag;
[[noreturn]] void throw_abandoned();
}  // namespace detail

// For the loops of long steps, in any thread. Throws Interrupted once the thread's flag is set; costs two loads.
inline void abandon_step_if_asked() {
  const std::atomic<bool>* const flag = detail::abandon_flag;
  if (flag && flag->load(std::memory_order_relaxed)) [[unlikely]]
    detail::throw_abandoned();
}

}  // namespace softalign
