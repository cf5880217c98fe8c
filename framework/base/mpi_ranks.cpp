// Ranks by MPI (base/ranks.hpp), in a separate library.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/base/ranks.hpp"

namespace softalign {
namespace {

constexpr std::size_t kLargestMessage = std::size_t{1} << 30;  // MPI counts in int

void check(int status) {
  if (status != MPI_SUCCESS) throw MachineError("MPI failed with status {}", status);
}

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_));
  }
  ~MpiRanks() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int count() const override { return count_; }

  void exchange(int peer, std::string_view sent, std::span<char> received) override {
    while (!sent.empty() || !received.empty()) {
      MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const std::size_t out = std::min(sent.size(), kLargestMessage),
                        in = std::min(received.size(), kLargestMessage);
      if (in > 0)
        check(MPI_Irecv(received.data(),
                        static_cast<int>(in),
                        MPI_BYTE,
                        peer,
                        0,
                        MPI_COMM_WORLD,
                        &requests[0]));
      if (out > 0)
        check(MPI_Isend(
            sent.data(), static_cast<int>(out), MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]));
      wait(requests);
      sent.remove_prefix(out);
      received = received.subspan(in);
    }
  }

  void abort(int exit_status) override {
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    std::_Exit(exit_status);
  }

 private:
  // Waits for both requests. MPI_Waitall would occupy a processor that another rank may need.
  static void wait(MPI_Request (&requests)[2]) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begun = Clock::now();
    for (int done = 0;;) {
      check(MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE));
      if (done) return;
      const auto waited = Clock::now() - begun;
      if (waited > std::chrono::milliseconds(20))
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      else
        std::this_thread::yield();
    }
  }

  int rank_ = 0;
  int count_ = 1;
};

}  // namespace

extern "C" Ranks* softalign_mpi_ranks() { return new MpiRanks; }

}  // namespace softalign
