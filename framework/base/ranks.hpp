// The processes of one run ("ranks"; 0 is the first) and their communication. The functions that send data to all
// ranks or from all ranks are collective: all ranks call them in the same order, with buffers of the same size. Sums
// are taken in a fixed tree, so they depend neither on the number of ranks nor on which message arrives first.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int count() const = 0;  // a power of two
  bool first() const { return rank() == 0; }

  // Sends bytes to `peer` and receives bytes from it at the same time; either may be empty. The peer must call
  // exchange, too. Throws MachineError.
  virtual void exchange(int peer, std::string_view sent, std::span<char> received) = 0;
  // Ends all ranks at once, without cleaning up.
  [[noreturn]] virtual void abort(int exit_status) = 0;
};

// The rank of a process that runs alone.
Ranks& only_rank();

// Returns the ranks that `mpirun` or `srun` started, connected by the MPI library of the build; to be called once per
// process. Throws MachineError if the build has no MPI.
std::unique_ptr<Ranks> mpi_ranks();

// Returns the first rank's bytes in all ranks.
std::string broadcast(Ranks& ranks, std::string bytes);
void broadcast(Ranks& ranks, std::span<real> numbers);
// Returns the bytes of each rank, in order, in the first rank; empty in other ranks.
std::vector<std::string> gather(Ranks& ranks, const std::string& bytes);
// Returns the bytes of each rank, in order, in all ranks.
std::vector<std::string> gather_to_all(Ranks& ranks, const std::string& bytes);
// Returns in each rank its own string of the first rank's `bytes` [ranks].
std::string scatter(Ranks& ranks, const std::vector<std::string>& bytes);

// The following functions need a number of ranks that is a power of two.

// The bounds of a buffer's slices, one of which each rank owns: slice i has numbers [bounds[i], bounds[i + 1]).
using Bounds = std::vector<Index>;           // [ranks + 1]
int slice_of(const Ranks& ranks, int rank);  // the slice that a rank owns
// Replaces the owned slice by its sum over all ranks, ((0 + 1) + (2 + 3)) + ..., by recursive halving. The rest of
// the buffer holds partial sums afterwards.
void sum_slices(Ranks& ranks,
                std::span<real> numbers,
                const Bounds& bounds,
                std::vector<real>& scratch);
// Completes the buffer with the slices that the other ranks own.
void share_slices(Ranks& ranks, std::span<real> numbers, const Bounds& bounds);

}  // namespace softalign
