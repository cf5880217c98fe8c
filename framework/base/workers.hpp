// A few threads that share out independent pieces of work, and a way out of a piece that takes too long. Who
// does which piece changes nothing: pieces share no number.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// `asked`; if 0 the number of processors that this process may use.
int resolve_thread_count(int asked);

// The seconds of every piece of work, for each call of Workers::run.
using PieceTimes = std::vector<std::vector<double>>;

// The threads have usual arithmetic (base/process.hpp) and abandon their steps when the thread that made them does.
class Workers {
 public:
  explicit Workers(int threads);  // >= 1; the calling thread is one of them
  // A rehearsal: the calling thread does all pieces, in order, as `threads` threads would.
  Workers(int threads, PieceTimes& times) : count_(threads), times_(&times) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return count_; }
  // Calls work(i) for each i in [0, count) and returns when all are done. An exception is thrown
  // again here: that of the lowest i that threw.
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

// The way out of a step that takes too long to be finished: an exception from its midst. Thrown only
// where nothing is half changed that outlives the step.
//
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
