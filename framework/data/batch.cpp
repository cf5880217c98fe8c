#include "framework/data/batch.hpp"
#include "framework/base/types.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace softalign {

namespace {

using Rows = std::vector<std::pair<Index, ExampleRow>>;  // the example and where it lies

Rows sorted_rows(const Split& split, std::span<const Index> examples) {
  Rows rows;
  for (const Index i : examples) rows.emplace_back(i, split.examples.row(usize(i)));
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple(-Index{a.second.source}, a.first) <
           std::tuple(-Index{b.second.source}, b.first);
  });
  return rows;
}

}  // namespace

std::vector<Index> batch_order(const Split& split, std::span<const Index> examples) {
  std::vector<Index> order;
  for (const auto& [example, row] : sorted_rows(split, examples)) order.push_back(example);
  return order;
}

Batch make_batch(const Split& split, std::span<const Index> examples, bool links) {
  const Rows rows = sorted_rows(split, examples);
  const FrameFormat& frames = split.examples.format();
  Batch batch;
  batch.rows = std::ssize(examples);
  for (const auto& [example, row] : rows) {
    batch.example.push_back(example);
    batch.source_lengths.push_back(Index{row.source} + (frames ? 0 : 1));
    batch.target_lengths.push_back(Index{row.target} + 1);
    batch.source_steps = std::max(batch.source_steps, batch.source_lengths.back());
    batch.target_steps = std::max(batch.target_steps, batch.target_lengths.back());
    if (!links) continue;
    const std::span<const Link> known = split.examples[usize(example)].links;
    batch.links.emplace_back(known.begin(), known.end());
  }

  if (frames)
    batch.frames.resize(usize(batch.rows * batch.source_steps * frames.size));
  else
    batch.source.assign(usize(batch.rows * batch.source_steps), kEnd);
  batch.target_in.assign(usize(batch.rows * batch.target_steps), kEnd);
  batch.target_out = batch.target_in;
  std::vector<Token> tokens;
  for (Index b = 0; b < batch.rows; ++b) {
    const ExampleRow& row = rows[usize(b)].second;
    split.examples.read_tokens(row, tokens);
    if (frames)
      split.examples.read_frames(row, batch.frames.data() + b * batch.source_steps * frames.size);
    const auto target = tokens.begin() + (frames ? 0 : row.source);
    const Index target_row = b * batch.target_steps;
    if (!frames) std::copy(tokens.begin(), target, batch.source.begin() + b * batch.source_steps);
    batch.target_in[usize(target_row)] = kBegin;
    std::copy(target, tokens.end(), batch.target_in.begin() + target_row + 1);
    std::copy(target, tokens.end(), batch.target_out.begin() + target_row);
  }
  return batch;
}

}  // namespace softalign
