// Ranks that are threads of one process, for tests.
#pragma once

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "framework/base/ranks.hpp"
#include "framework/base/types.hpp"

namespace softalign::test {

class ThreadRanks {
 public:
  // Runs `work` once in each of `count` ranks; throws again what the lowest rank threw.
  static void run(int count, const std::function<void(Ranks&)>& work) {
    ThreadRanks all;
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> failures(usize(count));
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        One one(all, rank, count);
        try {
          work(one);
        } catch (...) {
          failures[usize(rank)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

 private:
  class One final : public Ranks {
   public:
    One(ThreadRanks& all, int rank, int count) : all_(all), rank_(rank), count_(count) {}
    int rank() const override { return rank_; }
    int count() const override { return count_; }
    void exchange(int peer, std::string_view sent, std::span<char> received) override {
      std::unique_lock lock(all_.mutex_);
      if (!sent.empty()) {
        all_.messages_[{rank_, peer}].emplace(sent);
        all_.arrived_.notify_all();
      }
      if (received.empty()) return;
      std::queue<std::string>& waiting = all_.messages_[{peer, rank_}];
      all_.arrived_.wait(lock, [&] { return !waiting.empty(); });
      const std::string message = std::move(waiting.front());
      waiting.pop();
      if (message.size() != received.size()) std::abort();  // as MPI would
      std::copy(message.begin(), message.end(), received.begin());
    }
    void abort(int) override { std::abort(); }

   private:
    ThreadRanks& all_;
    int rank_, count_;
  };

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::queue<std::string>> messages_;
};

}  // namespace softalign::test
