// A fast sum that tells damage from what was written: any change within one word is noticed for
// sure, others but once in 2^64. Not a cryptographic hash: whoever wants to can forge it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace softalign {

class Checksum {
 public:
  static constexpr std::size_t kBlock = 64;  // bytes

  // A multiple of kBlock bytes. Eight lanes, so that memory is the limit and not the multiplier.
  void add(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(kBlock))
      for (std::size_t k = 0; k < lanes_.size(); ++k) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + k * sizeof word, sizeof word);
        lanes_[k] = mix(lanes_[k], word);
      }
  }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : lanes_) sum = mix(sum, lane);
    return sum;
  }

 private:
  // One to one in either argument.
  static std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
    return std::rotl((state ^ word) * 0x9e3779b97f4a7c15u, 29);
  }

  std::array<std::uint64_t, kBlock / sizeof(std::uint64_t)> lanes_{1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace softalign
