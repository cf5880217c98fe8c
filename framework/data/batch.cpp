#include "framework/data/batch.hpp"

#include <algorithm>
#include <tuple>

namespace softalign {

Batch make_batch(const Split& split, std::span<const Index> examples) {
  const auto at = [&](Index i) -> const Example& {
    return split.examples.at(static_cast<std::size_t>(i));
  };
  Batch batch;
  batch.rows = std::ssize(examples);
  batch.example.assign(examples.begin(), examples.end());
  std::sort(batch.example.begin(), batch.example.end(), [&](Index a, Index b) {
    return std::tuple(-std::ssize(at(a).source), a) < std::tuple(-std::ssize(at(b).source), b);
  });
  for (const Index i : batch.example) {
    batch.source_lengths.push_back(std::ssize(at(i).source) + 1);
    batch.target_lengths.push_back(std::ssize(at(i).target) + 1);
    batch.source_steps = std::max(batch.source_steps, batch.source_lengths.back());
    batch.target_steps = std::max(batch.target_steps, batch.target_lengths.back());
  }

  batch.source.assign(static_cast<std::size_t>(batch.rows * batch.source_steps), kEnd);
  batch.target_in.assign(static_cast<std::size_t>(batch.rows * batch.target_steps), kEnd);
  batch.target_out = batch.target_in;
  for (Index b = 0; b < batch.rows; ++b) {
    const Example& example = at(batch.example[static_cast<std::size_t>(b)]);
    const Index target_row = b * batch.target_steps;
    std::copy(example.source.begin(),
              example.source.end(),
              batch.source.begin() + b * batch.source_steps);
    batch.target_in[static_cast<std::size_t>(target_row)] = kBegin;
    std::copy(
        example.target.begin(), example.target.end(), batch.target_in.begin() + target_row + 1);
    std::copy(example.target.begin(), example.target.end(), batch.target_out.begin() + target_row);
  }
  return batch;
}

}  // namespace softalign
