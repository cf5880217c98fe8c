// Threads that divide independent pieces of work among them, and a way to abandon a step that takes too long. The
// result does not depend on which thread does a piece, because pieces share no numbers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// Returns `asked`, or, if it is 0, the number of processors that this process may use.
int resolve_thread_count(int asked);

// The seconds that each piece of work took, for each call of Workers::run.
using PieceTimes = std::vector<std::vector<double>>;

// The threads use default arithmetic (base/process.hpp) and abandon steps when the thread that created them does.
class Workers {
 public:
  explicit Workers(int threads);  // >= 1; the calling thread is one of them
  // Rehearses `threads` threads: the calling thread does all pieces in order and records their times.
  Workers(int threads, PieceTimes& times) : count_(threads), times_(&times) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return count_; }
  // Calls work(i) for each i in [0, count) and returns when all calls are done. Rethrows the
  // exception of the lowest i that threw.
  template <class Work>
  void run(Index count, const Work& work) {
    run_pieces(count,
               {&work, [](const void* self, Index i) { (*static_cast<const Work*>(self))(i); }});
  }

 private:
  // A non-owning callable, because std::function would allocate at every call.
  struct Pieces {
    const void* self = nullptr;
    void (*call)(const void* self, Index i) = nullptr;
  };
  void run_pieces(Index count, Pieces work);
  void rehearse(Index count, Pieces work);
  void take_pieces();
  void wait_for_work();
  void stop();

  int count_ = 1;  // of threads
  PieceTimes* times_ = nullptr;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  Pieces work_;
  Index pieces_ = 0;
  Index next_ = 0;
  Index pending_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  Index failed_at_ = -1;
  std::exception_ptr failure_;
};

// Lets steps that take too long be abandoned by an exception. It is thrown only where no data that outlives the
// step is half changed.
//
// While a scope lives, its thread and the Workers that the thread creates abandon their steps once the flag is set, by
// a signal handler or another thread. The flag must outlive the scope. Scopes nest; the innermost flag counts.
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

// Throws Interrupted once the thread's flag is set; costs two loads. For the loops of long steps, in any thread.
inline void abandon_step_if_asked() {
  const std::atomic<bool>* const flag = detail::abandon_flag;
  if (flag && flag->load(std::memory_order_relaxed)) [[unlikely]]
    detail::throw_abandoned();
}

}  // namespace softalign
