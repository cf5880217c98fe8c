#include "framework/base/random.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "framework/base/elementary.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"

namespace softalign {

Philox philox4x32(Philox counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter[0];
    const std::uint64_t b = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::string_view name) {
  const auto digest = sha256(fmt::format("softalign-rng-1|{}|{}", seed, name));
  for (std::size_t k = 0; k < 2; ++k)
    key_[k] = std::uint32_t{digest[4 * k]} | std::uint32_t{digest[4 * k + 1]} << 8 |
              std::uint32_t{digest[4 * k + 2]} << 16 | std::uint32_t{digest[4 * k + 3]} << 24;
}

Philox RandomStream::words(std::uint64_t number, std::uint64_t round) const {
  return philox4x32({static_cast<std::uint32_t>(number),
                     static_cast<std::uint32_t>(number >> 32),
                     static_cast<std::uint32_t>(round),
                     static_cast<std::uint32_t>(round >> 32)},
                    key_);
}

std::uint32_t RandomStream::word(std::uint64_t index, std::uint64_t round) const {
  return words(index / 4, round)[index % 4];
}

float RandomStream::uniform(std::uint64_t index, std::uint64_t round) const {
  return static_cast<float>(word(index, round) >> 8) * 0x1p-24f;
}

RandomStream RandomStream::within(std::uint64_t a, std::uint64_t b) const {
  const Philox key = words(a, b);
  return RandomStream({key[0], key[1]});
}

// Wichura's AS 241 (PPND16): relative accuracy about 1e-16. Computed by + * / and sqrt, and in the
// tails by exact::log, so the bits are the same wherever IEEE 754 holds.
double RandomStream::normal(std::uint64_t index, std::uint64_t round) const {
  const double p = (static_cast<double>(word(index, round)) + 0.5) * 0x1p-32;
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q *
           (((((((2509.0809287301226727 * r + 33430.575583588128105) * r + 67265.770927008700853) *
                    r +
                45921.953931549871457) *
                   r +
               13731.693765509461125) *
                  r +
              1971.5909503065514427) *
                 r +
             133.14166789178437745) *
                r +
            3.387132872796366608) /
           (((((((5226.495278852854561 * r + 28729.085735721942674) * r + 39307.89580009271061) *
                    r +
                21213.794301586595867) *
                   r +
               5394.1960214247511077) *
                  r +
              687.1870074920579083) *
                 r +
             42.313330701600911252) *
                r +
            1.0);
  }
  double r = std::sqrt(-exact::log(q < 0 ? p : 1 - p));
  double value = 0;
  if (r <= 5) {
    r -= 1.6;
    value = (((((((7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r +
                  0.24178072517745061177) *
                     r +
                 1.27045825245236838258) *
                    r +
                3.64784832476320460504) *
                   r +
               5.7694972214606914055) *
                  r +
              4.6303378461565452959) *
                 r +
             1.42343711074968357734) /
            (((((((1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r +
                  0.0151986665636164571966) *
                     r +
                 0.14810397642748007459) *
                    r +
                0.68976733498510000455) *
                   r +
               1.6763848301838038494) *
                  r +
              2.05319162663775882187) *
                 r +
             1.0);
  } else {
    r -= 5;
    value = (((((((2.01033439929228813265e-7 * r + 2.71155556874348757815e-5) * r +
                  0.0012426609473880784386) *
                     r +
                 0.026532189526576123093) *
                    r +
                0.29656057182850489123) *
                   r +
               1.7848265399172913358) *
                  r +
              5.4637849111641143699) *
                 r +
             6.6579046435011037772) /
            (((((((2.04426310338993978564e-15 * r + 1.4215117583164458887e-7) * r +
                  1.8463183175100546818e-5) *
                     r +
                 7.868691311456132591e-4) *
                    r +
                0.0148753612908506148525) *
                   r +
               0.13692988092273580531) *
                  r +
              0.59983220655588793769) *
                 r +
             1.0);
  }
  return q < 0 ? -value : value;
}

// Lemire's multiply-shift. A rejected draw is repeated with an index that is larger by 2^40, so
// smaller indices stay independent.
std::uint32_t RandomStream::below(std::uint32_t bound,
                                  std::uint64_t index,
                                  std::uint64_t round) const {
  const std::uint32_t threshold = (0u - bound) % bound;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t product = std::uint64_t{word(index + (attempt << 40), round)} * bound;
    if (static_cast<std::uint32_t>(product) >= threshold)
      return static_cast<std::uint32_t>(product >> 32);
  }
}

std::vector<Index> RandomStream::permutation(Index size, std::uint64_t round) const {
  std::vector<Index> order(usize(size));
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[below(static_cast<std::uint32_t>(i), i, round)]);
  return order;
}

}  // namespace softalign
