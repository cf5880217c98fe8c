// A pool of tapes for batches on several threads. A tape returns to the pool with its memory, so that only the first
// batches allocate any.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "framework/autodiff/tape.hpp"

namespace softalign {

class TapePool {
 public:
  struct Return {
    TapePool* pool = nullptr;
    void operator()(Tape* tape) const { pool->take_back(std::unique_ptr<Tape>(tape)); }
  };

  // Returns a tape in Tape::Mode::infer. The pool must outlive it.
  std::unique_ptr<Tape, Return> borrow() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return {new Tape(Tape::Mode::infer), {this}};
    Tape* tape = free_.back().release();
    free_.pop_back();
    return {tape, {this}};
  }

 private:
  void take_back(std::unique_ptr<Tape> tape) {
    tape->reset();
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(tape));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Tape>> free_;
};

}  // namespace softalign
