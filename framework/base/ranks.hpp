// The processes of one run ("ranks", 0 being the first), and what they exchange. Every function but `rank` and
// `count` is collective: all ranks call it in the same order, with the same sizes. Sums are taken in a fixed tree,
// so they depend neither on the number of ranks nor on which message arrives first.
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

  // Sends bytes to `peer` and receives bytes from it at the same time; either may be empty. Throws MachineError.
  // The peer calls it, too.
  virtual void exchange(int peer, std::string_view sent, std::span<char> received) = 0;
  // Ends all ranks at once, without cleaning up.
  [[noreturn]] virtual void abort(int exit_status) = 0;
};

// A process alone.
Ranks& only_rank();

// The ranks that `mpirun` or `srun` started, by the MPI library that this build found; made once in a process.
// Throws MachineError if the build has no MPI.
std::unique_ptr<Ranks> mpi_ranks();

// The first rank's bytes, in all ranks.
std::string broadcast(Ranks& ranks, std::string bytes);
void broadcast(Ranks& ranks, std::span<real> numbers);
// The bytes of each rank, in order, in the first rank; empty in others.
std::vector<std::string> gather(Ranks& ranks, const std::string& bytes);
// The same in all ranks.
std::vector<std::string> gather_to_all(Ranks& ranks, const std::string& bytes);
// To each rank its own of the first rank's bytes, a string for each rank.
std::string scatter(Ranks& ranks, const std::vector<std::string>& bytes);

// The number of ranks must be a power of two for what follows.

// A buffer of which each rank owns a slice: slice i has numbers [bounds[i], bounds[i + 1]).
using Bounds = std::vector<Index>;           // [ranks + 1]
int slice_of(const Ranks& ranks, int rank);  // the slice that a rank owns
// Replaces the owned slice by its sum over all ranks, ((0 + 1) + (2 + 3)) + ..., by recursive halving. The other
// numbers are partial sums afterwards.
void sum_slices(Ranks& ranks,
                std::span<real> numbers,
                const Bounds& bounds,
                std::vector<real>& scratch);
// Completes the buffer with the slices of the other ranks.
void share_slices(Ranks& ranks, std::span<real> numbers, const Bounds& bounds);

}  // namespace softalign
