#include "framework/kernels/work.hpp"

#include <numeric>

namespace softalign {
namespace {

Index positions(std::span<const Index> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), Index{0});
}

}  // namespace

Work& work_of_thread() {
  thread_local Work work;
  return work;
}

void count_multiplications(std::span<const Index> lengths, Index each) {
  work_of_thread().multiplications += positions(lengths) * each;
}

void count_energies(std::span<const Index> lengths, Index each) {
  work_of_thread().energies += positions(lengths) * each;
}

}  // namespace softalign
