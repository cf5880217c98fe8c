#include "framework/base/ranks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"

namespace softalign {
namespace {

class OnlyRank final : public Ranks {
 public:
  int rank() const override { return 0; }
  int count() const override { return 1; }
  void exchange(int, std::string_view, std::span<char>) override {
    throw BugError("a process alone has no peer");
  }
  void abort(int exit_status) override { std::_Exit(exit_status); }
};

std::span<char> bytes_of(std::span<real> numbers) {
  return {reinterpret_cast<char*>(numbers.data()), numbers.size_bytes()};
}

std::string_view view_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

// Sends the first rank's bytes to all ranks along a binomial tree.
void broadcast_bytes(Ranks& ranks, std::span<char> bytes) {
  const int rank = ranks.rank();
  for (int distance = 1; distance < ranks.count(); distance *= 2) {
    if (rank < distance && rank + distance < ranks.count())
      ranks.exchange(rank + distance, view_of(bytes), {});
    if (rank >= distance && rank < 2 * distance) ranks.exchange(rank - distance, {}, bytes);
  }
}

void send(Ranks& ranks, int peer, const std::string& bytes) {
  ByteWriter size;
  size.number<std::uint64_t>(bytes.size());
  ranks.exchange(peer, size.bytes(), {});
  ranks.exchange(peer, bytes, {});
}

std::string receive(Ranks& ranks, int peer) {
  std::string size(sizeof(std::uint64_t), '\0');
  ranks.exchange(peer, {}, size);
  std::string bytes(ByteReader(size).number<std::uint64_t>(), '\0');
  ranks.exchange(peer, {}, bytes);
  return bytes;
}

// Returns the slices [first, first + count) of a buffer.
std::span<real> slices(std::span<real> numbers, const Bounds& bounds, int first, int count) {
  const Index begin = bounds[usize(first)], end = bounds[usize(first + count)];
  return numbers.subspan(usize(begin), usize(end - begin));
}

// A step of recursive halving: of the slices shared with `peer`, `half` slices from `mine` on stay in this rank.
struct Halves {
  int peer, half, mine, theirs;
};

// Returns the steps of a rank, from the nearest peer, whose numbers are added first, to the most distant.
std::vector<Halves> halving(int rank, int count) {
  std::vector<Halves> steps;
  int first = 0;
  for (int distance = 1, half = count / 2; half > 0; distance *= 2, half /= 2) {
    const bool upper = (rank & distance) != 0;
    const int mine = upper ? first + half : first, theirs = upper ? first : first + half;
    steps.push_back({rank ^ distance, half, mine, theirs});
    first = mine;
  }
  return steps;
}

}  // namespace

Ranks& only_rank() {
  static OnlyRank alone;
  return alone;
}

// MPI is in a separate library, loaded on demand, so that a program without it starts faster, and on any machine.
std::unique_ptr<Ranks> mpi_ranks() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&mpi_ranks), &here);
  const auto file = std::filesystem::path(here.dli_fname).parent_path() / "libsoftalign_mpi.so";
  if (!std::filesystem::exists(file))
    throw MachineError(
        "{} is missing: scripts/setup.sh mpi build makes it, and cmake --install build/release "
        "--component mpi installs it",
        file.string());
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw MachineError("cannot load MPI: {}", dlerror());
  using Make = Ranks*();
  return std::unique_ptr<Ranks>(reinterpret_cast<Make*>(dlsym(library, "softalign_mpi_ranks"))());
}

std::string broadcast(Ranks& ranks, std::string bytes) {
  if (ranks.count() == 1) return bytes;
  std::uint64_t size = bytes.size();
  broadcast_bytes(ranks, {reinterpret_cast<char*>(&size), sizeof size});
  bytes.resize(size);
  broadcast_bytes(ranks, bytes);
  return bytes;
}

void broadcast(Ranks& ranks, std::span<real> numbers) { broadcast_bytes(ranks, bytes_of(numbers)); }

std::vector<std::string> gather(Ranks& ranks, const std::string& bytes) {
  if (!ranks.first()) {
    send(ranks, 0, bytes);
    return {};
  }
  std::vector<std::string> all = {bytes};
  for (int peer = 1; peer < ranks.count(); ++peer) all.push_back(receive(ranks, peer));
  return all;
}

std::vector<std::string> gather_to_all(Ranks& ranks, const std::string& bytes) {
  std::vector<std::string> all = {bytes};
  const auto packed = [&all] {
    ByteWriter writer;
    writer.list(all);
    return writer.bytes();
  };
  const auto unpacked = [](const std::string& list) {
    return ByteReader(list).list<std::string>();
  };
  if (!std::has_single_bit(static_cast<unsigned>(ranks.count()))) {
    all = gather(ranks, bytes);
    return unpacked(broadcast(ranks, packed()));
  }
  // Neighbours exchange their bytes, then neighbouring pairs, and so on.
  for (int distance = 1; distance < ranks.count(); distance *= 2) {
    const int peer = ranks.rank() ^ distance;
    const std::string own = packed();
    std::uint64_t own_size = own.size(), size = 0;
    ranks.exchange(peer,
                   {reinterpret_cast<const char*>(&own_size), sizeof own_size},
                   {reinterpret_cast<char*>(&size), sizeof size});
    std::string other(size, '\0');
    ranks.exchange(peer, own, other);
    std::vector<std::string> theirs = unpacked(other);
    if (peer < ranks.rank()) std::swap(all, theirs);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  return all;
}

std::string scatter(Ranks& ranks, const std::vector<std::string>& bytes) {
  if (!ranks.first()) return receive(ranks, 0);
  for (int peer = 1; peer < ranks.count(); ++peer) send(ranks, peer, bytes[usize(peer)]);
  return bytes.front();
}

int slice_of(const Ranks& ranks, int rank) {
  return ranks.count() == 1 ? 0 : halving(rank, ranks.count()).back().mine;
}

void sum_slices(Ranks& ranks,
                std::span<real> numbers,
                const Bounds& bounds,
                std::vector<real>& scratch) {
  for (const Halves& step : halving(ranks.rank(), ranks.count())) {
    const std::span<real> mine = slices(numbers, bounds, step.mine, step.half);
    scratch.resize(std::max(scratch.size(), mine.size()));
    const std::span<real> received = std::span(scratch).first(mine.size());
    ranks.exchange(step.peer,
                   view_of(bytes_of(slices(numbers, bounds, step.theirs, step.half))),
                   bytes_of(received));
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += received[i];
  }
}

void share_slices(Ranks& ranks, std::span<real> numbers, const Bounds& bounds) {
  const std::vector<Halves> steps = halving(ranks.rank(), ranks.count());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    ranks.exchange(step->peer,
                   view_of(bytes_of(slices(numbers, bounds, step->mine, step->half))),
                   bytes_of(slices(numbers, bounds, step->theirs, step->half)));
}

}  // namespace softalign
