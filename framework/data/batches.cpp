#include "framework/data/batches.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

namespace softalign {
namespace {

struct Lengths {
  std::uint32_t source = 0, target = 0;
  std::uint32_t both() const { return source + target; }
  Index positions() const { return Index{std::max(source, target)} + 1; }
};

constexpr std::size_t kHeldLengths = 1 << 20;  // examples

// Sentence lengths, packed into the entries of an order of examples, so that order and lengths together take 8 bytes
// per example: 35 bits for the example, 14 for each length. Lengths that do not fit are stored in a map.
class PackedLengths {
 public:
  // Rows are read in order, so that little of a large corpus is resident.
  PackedLengths(const Examples& examples, std::span<Index> order) {
    std::vector<std::uint32_t> some;
    for (std::size_t begin = 0; begin < examples.size(); begin += some.size()) {
      read(examples, begin, some);
      for (Index& entry : order)
        if (const auto at = usize(example(entry)) - begin; at < some.size())
          entry |= Index{some[at]} << kTargetAt;
    }
  }

  static Index example(Index entry) { return entry & kExample; }

  Lengths of(Index entry) const {
    const Lengths packed{static_cast<std::uint32_t>(entry >> kTargetAt >> kLengthBits),
                         static_cast<std::uint32_t>(entry >> kTargetAt & kLongest)};
    return packed.source == kLongest ? long_.at(example(entry)) : packed;
  }

 private:
  static constexpr int kTargetAt = 35, kLengthBits = 14;
  static constexpr Index kExample = (Index{1} << kTargetAt) - 1;
  static constexpr std::uint32_t kLongest = (1 << kLengthBits) - 1;

  void read(const Examples& examples, std::size_t begin, std::vector<std::uint32_t>& packed) {
    constexpr std::size_t kResident = 1 << 16;  // rows
    packed.clear();
    const std::size_t count = std::min(kHeldLengths, examples.size() - begin);
    packed.reserve(count);
    for (const ExampleRow& row : examples.rows().subspan(begin, count)) {
      const bool is_long = std::max(row.source, row.target) >= kLongest;
      if (is_long) long_[std::ssize(packed) + static_cast<Index>(begin)] = {row.source, row.target};
      packed.push_back(is_long ? kLongest << kLengthBits : row.source << kLengthBits | row.target);
      if (packed.size() % kResident == 0) examples.release();
    }
    examples.release();
  }

  std::map<Index, Lengths> long_;
};

// Removes the first `size` elements from `rest`, or all if there are fewer, and returns them.
template <class T>
std::span<T> take(std::span<T>& rest, Index size) {
  const auto part = rest.first(std::min(rest.size(), usize(size)));
  rest = rest.subspan(part.size());
  return part;
}

// Removes the first examples from `rest`, until they have `tokens` positions or none is left, and returns them.
template <class Positions>
std::span<Index> take_filling(std::span<Index>& rest, Index tokens, const Positions& positions) {
  Index sum = 0, count = 0;
  while (count < std::ssize(rest) && sum < tokens) sum += positions(rest[usize(count++)]);
  return take(rest, count);
}

// Cuts a pool into batches, in order; returns the number of examples in each batch.
template <class Positions>
std::vector<Index> batch_sizes(std::span<const Index> pool,
                               const BatchOptions& options,
                               const Positions& positions) {
  std::vector<Index> sizes;
  Index longest = 0;
  for (const Index i : pool) {
    longest = options.tokens ? std::max(longest, positions(i)) : 1;
    if (sizes.empty() || sizes.back() >= most_pairs(options, longest)) {
      sizes.push_back(0);
      longest = options.tokens ? positions(i) : 1;
    }
    ++sizes.back();
  }
  return sizes;
}

Index drawn_from(const Portion& portion) {
  return static_cast<Index>(std::round(static_cast<double>(portion.examples) * portion.weight));
}

// Returns the examples of an epoch, portion by portion.
std::vector<Index> draw(const std::vector<Portion>& portions,
                        std::uint64_t seed,
                        std::uint64_t round) {
  std::vector<Index> drawn;
  Index first = 0;
  for (std::size_t k = 0; k < portions.size(); ++k) {
    const Index size = portions[k].examples;
    const Index whole = static_cast<Index>(portions[k].weight) * size;
    const RandomStream stream(seed, fmt::format("portion {}", k));
    const std::vector<Index> some = stream.permutation(size, round);
    for (Index i = 0; i < drawn_from(portions[k]); ++i)
      drawn.push_back(first + (i < whole ? i % size : some[usize(i - whole)]));
    first += size;
  }
  return drawn;
}

}  // namespace

void Batches::append(std::span<const Index> batch) {
  examples_.insert(examples_.end(), batch.begin(), batch.end());
  ends_.push_back(std::ssize(examples_));
}

std::span<const Index> Batches::operator[](std::size_t k) const {
  const auto begin = k == 0 ? 0 : usize(ends_[k - 1]);
  return std::span(examples_).subspan(begin, usize(ends_[k]) - begin);
}

Index examples_per_epoch(const Split& split) {
  if (split.portions.empty()) return std::ssize(split.examples);
  Index sum = 0;
  for (const Portion& portion : split.portions) sum += drawn_from(portion);
  return sum;
}

Index most_pairs(const BatchOptions& options, Index longest) {
  if (!options.tokens) return options.sentences;
  return std::clamp<Index>(*options.tokens / longest, 1, kLargestBatch);
}

Batches epoch_batches(const Split& split,
                      const BatchOptions& options,
                      std::uint64_t seed,
                      Index epoch) {
  const auto round = static_cast<std::uint64_t>(epoch);
  auto order = RandomStream(seed, "shuffle").permutation(examples_per_epoch(split), round);
  if (!split.portions.empty()) {
    const std::vector<Index> drawn = draw(split.portions, seed, round);
    for (Index& i : order) i = drawn[usize(i)];
  }
  const RandomStream batch_stream(seed, "shuffle/batches");
  const PackedLengths lengths(split.examples, order);
  const auto longer = [&](Index a, Index b) { return lengths.of(a).both() > lengths.of(b).both(); };
  const auto positions = [&](Index i) { return lengths.of(i).positions(); };

  std::vector<Index> ends, sorted;
  std::uint64_t number = 0;
  for (std::span<Index> rest = order; !rest.empty();) {
    const std::span<Index> pool =
        options.tokens ? take_filling(rest, *options.tokens * options.pool, positions)
                       : take(rest, options.sentences * options.pool);
    std::stable_sort(pool.begin(), pool.end(), longer);
    sorted.assign(pool.begin(), pool.end());
    const std::vector<Index> sizes = batch_sizes(sorted, options, positions);
    std::vector<Index> begins(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), Index{0});
    auto to = pool.begin();
    for (const Index k : batch_stream.permutation(std::ssize(sizes), round << 32 | number)) {
      to = std::copy_n(sorted.begin() + begins[usize(k)], sizes[usize(k)], to);
      ends.push_back(&*(to - 1) - order.data() + 1);
    }
    ++number;
  }
  for (Index& entry : order) entry = PackedLengths::example(entry);
  return {std::move(order), std::move(ends)};
}

double bytes_of_plan(Index examples, Index drawn, const BatchOptions& options) {
  const auto all = static_cast<double>(std::max(examples, drawn)),
             held = static_cast<double>(std::min(examples, Index{kHeldLengths})),
             batches = options.tokens ? all : all / static_cast<double>(options.sentences);
  return sizeof(Index) *
             (all + 2 * batches +
              (drawn > 0 && drawn != examples ? all + static_cast<double>(examples) : 0)) +
         sizeof(std::uint32_t) * held;
}

Batches evaluation_batches(const Split& split, Index sentences) {
  std::vector<Index> order(split.examples.size());
  std::iota(order.begin(), order.end(), Index{0});
  const std::span<const ExampleRow> rows = split.examples.rows();
  const auto key = [&](Index i) {
    const ExampleRow& row = rows[usize(i)];
    return std::tuple(-Index{row.source}, -Index{row.target}, i);
  };
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) < key(b); });
  split.examples.release();
  std::vector<Index> ends;
  for (Index end = 0; end < std::ssize(order); ends.push_back(end))
    end = std::min(end + sentences, std::ssize(order));
  return {std::move(order), std::move(ends)};
}

Batches cut_into_parts(const Split& split, std::span<const Index> batch, Index parts) {
  const std::vector<Index> order = batch_order(split, batch);
  const auto symbols = [&](Index i) {
    return static_cast<double>(split.examples.row(usize(i)).length() + 2);
  };
  double left = 0;
  for (const Index i : order) left += symbols(i);
  Batches cut_parts;
  auto begin = order.begin();
  for (Index k = std::min(parts, std::ssize(order)); k > 0; --k) {
    auto end = begin;
    double part = 0;
    // Adds sentences while the next one brings the part closer to its share, and enough remain for
    // the other parts.
    for (; order.end() - end > k - 1; ++end) {
      const double next = symbols(*end), share = left / static_cast<double>(k);
      if (end != begin && k > 1 && part + next / 2 > share) break;
      part += next;
    }
    cut_parts.append({begin, end});
    left -= part;
    begin = end;
  }
  return cut_parts;
}

namespace {

using Rows = std::vector<std::pair<Index, ExampleRow>>;  // the example and its location

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

namespace {

// Sets the copies of row b, and replaces <unk> in its target by words that can be copied.
void add_copies(Batch& batch, Index b, const Example& example, const Copies& copies) {
  const Copies::OfSentence row = copies.of(example.source, example.source_text);
  std::ranges::copy(row.symbols, batch.copies.begin() + b * batch.source_steps);
  std::ranges::copy(row.words, batch.words.begin() + b * batch.source_steps);
  copies.extend(
      std::span(batch.target_out).subspan(usize(b * batch.target_steps), example.target.size()),
      example.target_text,
      row.words);
}

}  // namespace

Batch make_batch(const Split& split, std::span<const Index> examples, const BatchParts& parts) {
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
    if (!parts.links) continue;
    const std::span<const Link> known = split.examples[usize(example)].links;
    batch.links.emplace_back(known.begin(), known.end());
  }

  if (frames)
    batch.frames.resize(usize(batch.rows * batch.source_steps * frames.size));
  else
    batch.source.assign(usize(batch.rows * batch.source_steps), kEnd);
  batch.target_in.assign(usize(batch.rows * batch.target_steps), kEnd);
  batch.target_out = batch.target_in;
  if (parts.copies != nullptr) {
    batch.copies.assign(batch.source.size(), kEnd);
    batch.words.resize(batch.source.size());
  }
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
    if (parts.copies != nullptr)
      add_copies(batch, b, split.examples[usize(batch.example[usize(b)])], *parts.copies);
  }
  return batch;
}

Split resegmented(const Dataset& data,
                  std::uint64_t seed,
                  Index epoch,
                  Workers& workers,
                  const std::function<bool()>& stop) {
  const Split& train = data.train;
  Split again{train.name, {}, train.counts, train.portions};
  const RandomStream of_sources(seed, "subword_dropout/source"),
      of_targets(seed, "subword_dropout/target");
  struct Pieces {
    std::vector<Token> source, target;
  };
  constexpr Index kAtOnce = 1024;
  const Index count = std::ssize(train.examples);
  std::vector<bool> drawn(usize(count), train.portions.empty());
  auto next = drawn.begin();
  for (const Portion& portion : train.portions)
    next = std::fill_n(next, portion.examples, portion.weight > 0);
  for (Index begin = 0; begin < count; begin += kAtOnce) {
    if (stop && stop())
      throw Interrupted("interrupted while segmenting the sentences of epoch {}", epoch + 1);
    std::vector<Pieces> part(usize(std::min(kAtOnce, count - begin)));
    workers.run(std::ssize(part), [&](Index k) {
      const Example example = train.examples[usize(begin + k)];
      const auto draw = [&](const Vocabulary& vocabulary,
                            std::string_view text,
                            std::span<const Token> otherwise,
                            const RandomStream& stream) {
        if (!drawn[usize(begin + k)]) return std::vector<Token>(otherwise.begin(), otherwise.end());
        return vocabulary.encode_with_dropout(text,
                                              data.subword_dropout,
                                              stream.within(static_cast<std::uint64_t>(epoch),
                                                            static_cast<std::uint64_t>(begin + k)));
      };
      part[usize(k)] = {draw(*data.source, example.source_text, example.source, of_sources),
                        draw(*data.target, example.target_text, example.target, of_targets)};
    });
    for (const Pieces& pieces : part) again.examples.append({pieces.source, pieces.target});
    train.examples.release();
  }
  return again;
}

}  // namespace softalign
