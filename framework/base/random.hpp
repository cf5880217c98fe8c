// Random numbers as pure functions of (seed, stream name, index): Philox4x32-10 (Salmon et al.
// 2011). There is no state, so order, threads and resumption cannot change a value, and adding a
// stream does not change any other.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "framework/base/types.hpp"

namespace softalign {

using Philox = std::array<std::uint32_t, 4>;

// One block of four random words for a counter and a key.
Philox philox4x32(Philox counter, std::array<std::uint32_t, 2> key);

// A named stream. Key: the first 8 bytes of SHA-256("softalign-rng-1|<seed>|<name>").
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);

  // All draws are functions of (index, round): `round` separates epochs, updates or sentences.
  std::uint32_t word(std::uint64_t index, std::uint64_t round = 0) const;
  float uniform(std::uint64_t index, std::uint64_t round = 0) const;  // in [0, 1), 24 bits
  double normal(std::uint64_t index,
                std::uint64_t round = 0) const;  // inverse CDF of 32 random bits
  std::uint32_t below(std::uint32_t bound,
                      std::uint64_t index,
                      std::uint64_t round = 0) const;                         // in [0, bound)
  std::vector<Index> permutation(Index size, std::uint64_t round = 0) const;  // Fisher-Yates
  // Returns the words 4 number .. 4 number + 3 at once.
  Philox words(std::uint64_t number, std::uint64_t round) const;
  // Returns the stream of a pair (a, b), derived without hashing a name.
  RandomStream within(std::uint64_t a, std::uint64_t b) const;

 private:
  explicit RandomStream(std::array<std::uint32_t, 2> key) : key_(key) {}

  std::array<std::uint32_t, 2> key_;
};

}  // namespace softalign
