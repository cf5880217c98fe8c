#include "framework/train/batch_meter.hpp"

#include <algorithm>
#include <vector>

#include "framework/kernels/gemm.hpp"

namespace softalign {
namespace {

double of_batch(const BatchBytes& one) { return one[kTape] + one[kFound]; }

// Extrapolates each entry of values at 1, 2 and 4, or at 1 and 2, to x, by a polynomial without negative coefficients.
BatchBytes carried(const std::vector<BatchBytes>& values, double x) {
  BatchBytes result = values.back();
  const auto line = [x](double a, double at_a, double b, double at_b) {
    return at_a + (x - a) / (b - a) * (at_b - at_a);
  };
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double last = result[k], near = line(1, values[0][k], 2, values[1][k]);
    result[k] =
        values.size() == 2
            ? std::clamp(near, last, last * x / 2)
            : std::clamp(line(1, near, 4, line(2, values[1][k], 4, last)), last, last * x * x / 16);
  }
  return result;
}

// Returns whether the values at 1, 2 and 4 lie on one side of a threshold.
bool is_polynomial(const std::vector<BatchBytes>& values) {
  const double near = of_batch(values[1]) - of_batch(values[0]),
               far = of_batch(values[2]) - of_batch(values[1]);
  return near >= 0 && far >= 1.5 * near;
}

}  // namespace

BatchBytes BatchMeter::at(const std::string& key,
                          const BatchSize& wanted,
                          Index height,
                          const Measure& measure) {
  constexpr Index kSentences = 16, kRows = 256;  // kRows: rows of logits that exist at a time
  if (wanted.sentences > 2 * kSentences) {
    const auto of = [&](Index sentences) {
      return at(key, {sentences, wanted.source, wanted.target}, height, measure);
    };
    return carried({of(kSentences), of(2 * kSentences)},
                   static_cast<double>(wanted.sentences) / kSentences);
  }
  const auto measured = [&](Index source, Index target) {
    const BatchSize size{wanted.sentences, source, target};
    const auto [place, is_new] = measured_.try_emplace({key, size});
    if (is_new) {
      const UncomputedProducts products;
      place->second = measure(size);
    }
    return place->second;
  };
  const auto columns = [=](Index pixels) { return (pixels + height - 1) / height * height; };
  const Index mark = height > 1 ? 1 : 0;  // the end mark after the columns
  const Index source = columns(wanted.source - mark), target = wanted.target,
              longest = std::max(source, target);
  const auto stays = [=](Index side) {
    return 16 * side < longest;
  };  // because this side is much shorter
  const auto part = [=](Index side, Index of_longest) {
    return stays(side) ? side : (side * of_longest + longest / 2) / longest;
  };
  Index first = columns(16);
  while (first < longest && (part(source, first) < std::min<Index>(source, 8) ||
                             part(target, first) < std::min(target, kRows / wanted.sentences)))
    first *= 2;
  std::vector<BatchBytes> found;  // at most three
  for (Index times = 1;; times *= 2) {
    const double last = found.size() == 3 ? of_batch(found.back()) : 0;
    if (4 * last > exact_ && (is_polynomial(found) || last > 16 * exact_))
      return carried(found, 8 * static_cast<double>(longest) / static_cast<double>(first * times));
    if (first * times >= longest) return measured(source + mark, target);
    if (found.size() == 3) found.erase(found.begin());
    found.push_back(measured(columns(part(source, first)) * (stays(source) ? 1 : times) + mark,
                             part(target, first) * (stays(target) ? 1 : times)));
  }
}

}  // namespace softalign
