// A few threads that share out independent pieces of work. Who does which piece changes nothing:
// pieces share no number.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

// `asked`, or as many as the machine has processors where nothing (0) was asked for.
int resolve_thread_count(int asked);

// The threads have usual arithmetic (base/process.hpp) and abandon their steps when the thread that made them does.
class Workers {
 public:
  explicit Workers(int threads);  // >= 1; the calling thread is one of them
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }
  // Calls work(i) for each i in [0, count) and returns when all are done. An exception is thrown
  // again here: that of the lowest i that threw.
  template <class Work>
  void run(Index count, const Work& work) {
    run_pieces(count,
               {&work, [](const void* self, Index i) { (*static_cast<const Work*>(self))(i); }});
  }

 private:
  // A callable somewhere else: std::function would ask for memory at every call.
  struct Pieces {
    const void* self = nullptr;
    void (*call)(const void* self, Index i) = nullptr;
  };
  void run_pieces(Index count, Pieces work);
  void take_pieces();
  void wait_for_work();
  void stop();

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  Pieces work_;
  Index count_ = 0;
  Index next_ = 0;
  Index pending_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  Index failed_at_ = -1;
  std::exception_ptr failure_;
};

}  // namespace softalign
