#include "framework/kernels/work.hpp"

#include <numeric>

namespace softalign {

Work& work_of_thread() {
  thread_local Work work;
  return work;
}

void count_energies(std::span<const Index> lengths, Index each, std::span<const Index> begins) {
  const auto sum = [](std::span<const Index> x) {
    return std::accumulate(x.begin(), x.end(), Index{0});
  };
  work_of_thread().energies += (sum(lengths) - sum(begins)) * each;
}

}  // namespace softalign
