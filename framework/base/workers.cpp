#include "framework/base/workers.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "framework/base/error.hpp"
#include "framework/base/process.hpp"

namespace softalign {

int resolve_thread_count(int asked) {
  if (asked > 0) return asked;
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

Workers::Workers(int threads) : count_(threads) {
  try {
    for (int i = 1; i < threads; ++i)
      threads_.emplace_back([this, flag = AbandonScope::flag()] {
        const AbandonScope scope(flag);
        set_usual_arithmetic();
        wait_for_work();
      });
  } catch (const std::system_error& error) {
    stop();
    throw MachineError("cannot start {} threads: {}; use fewer", threads, error.what());
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::rehearse(Index count, Pieces work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double>& seconds = times_->emplace_back();
  for (Index i = 0; i < count; ++i) {
    const Clock::time_point begun = Clock::now();
    work.call(work.self, i);
    seconds.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
  }
}

void Workers::run_pieces(Index count, Pieces work) {
  if (times_) return rehearse(count, work);
  {
    std::lock_guard lock(mutex_);
    work_ = work;
    pieces_ = count;
    next_ = 0;
    pending_ = count;
    failed_at_ = -1;
    failure_ = nullptr;
    ++round_;
  }
  start_.notify_all();
  take_pieces();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return pending_ == 0; });
  work_ = {};
  if (failure_) std::rethrow_exception(failure_);
}

void Workers::take_pieces() {
  std::unique_lock lock(mutex_);
  while (work_.call != nullptr && next_ < pieces_) {
    const Index piece = next_++;
    const Pieces work = work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work.call(work.self, piece);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && (failed_at_ < 0 || piece < failed_at_)) {
      failed_at_ = piece;
      failure_ = failure;
    }
    if (--pending_ == 0) done_.notify_all();
  }
}

void Workers::wait_for_work() {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_pieces();
  }
}

namespace detail {
constinit thread_local const std::atomic<bool>* abandon_flag = nullptr;

void throw_abandoned() { throw Interrupted("interrupted in the middle of a step"); }
}  // namespace detail

AbandonScope::AbandonScope(const std::atomic<bool>* flag) : before_(detail::abandon_flag) {
  detail::abandon_flag = flag;
}

AbandonScope::~AbandonScope() { detail::abandon_flag = before_; }

const std::atomic<bool>* AbandonScope::flag() { return detail::abandon_flag; }

}  // namespace softalign
