#include "framework/data/synthetic.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/data/build_vocabulary.hpp"

namespace softalign {
namespace {

void draw(const RandomStream& stream,
          std::uint64_t number,
          Index symbols,
          const std::vector<Index>& length,
          Order order,
          const Vocabulary& vocabulary,
          Examples& examples) {
  const Index size = draw_length(length, stream, 0, number);
  std::vector<Token> source, target;
  std::vector<Link> links;
  for (Index k = 1; k <= size; ++k) {
    const std::uint32_t symbol =
        stream.below(static_cast<std::uint32_t>(symbols), static_cast<std::uint64_t>(k), number);
    source.push_back(kSpecials + static_cast<Token>(symbol));
  }
  const std::vector<Index> places = order(source);
  for (Index k = 0; k < size; ++k) {
    const Index place = places[usize(k)];
    target.push_back(source[usize(place)]);
    links.push_back({place, k, true});
  }
  examples.append({source, target, links, vocabulary.join(source), vocabulary.join(target)});
}

}  // namespace

void fill_split(Split& split, const char* name, Index data_seed, Index examples, const Draw& draw) {
  const RandomStream stream(static_cast<std::uint64_t>(data_seed), fmt::format("task/{}", name));
  split.name = name;
  for (Index i = 0; i < examples; ++i) draw(stream, static_cast<std::uint64_t>(i));
  split.counts.read = split.counts.kept = examples;
}

Index draw_length(const std::vector<Index>& length,
                  const RandomStream& stream,
                  std::uint64_t index,
                  std::uint64_t round) {
  const auto lengths = static_cast<std::uint32_t>(length[1] - length[0] + 1);
  return length[0] + stream.below(lengths, index, round);
}

DataOutline::Lengths drawn_lengths(const char* split,
                                   Index data_seed,
                                   Index examples,
                                   const std::vector<Index>& length,
                                   std::uint64_t index) {
  const RandomStream stream(static_cast<std::uint64_t>(data_seed), fmt::format("task/{}", split));
  DataOutline::Lengths drawn{.shortest = length[1]};
  for (Index i = 0; i < examples; ++i) {
    const Index size = draw_length(length, stream, index, static_cast<std::uint64_t>(i));
    drawn.shortest = std::min(drawn.shortest, size);
    drawn.longest = std::max(drawn.longest, size);
    drawn.mean += static_cast<double>(size) / static_cast<double>(examples);
    drawn.square += static_cast<double>(size * size) / static_cast<double>(examples);
  }
  return drawn;
}

Dataset make_synthetic(const SyntheticOptions& options, Order order) {
  Dataset data;
  data.source = data.target = symbol_vocabulary(symbol_names(options.symbols));
  data.has_links = true;
  const auto fill =
      [&](Split& split, const char* name, const std::vector<Index>& length, Index examples) {
        const auto append = [&](const RandomStream& stream, std::uint64_t i) {
          draw(stream, i, options.symbols, length, order, *data.source, split.examples);
        };
        fill_split(split, name, options.data_seed, examples, append);
      };
  fill(data.train, "train", options.length.train, options.examples.train);
  fill(data.dev, "dev", options.length.dev, options.examples.dev);
  fill(data.test, "test", options.length.test, options.examples.test);
  return data;
}

std::vector<std::string> symbol_names(Index count) {
  std::vector<std::string> names;
  for (Index k = 0; k < count; ++k) {
    if (k < 26)
      names.emplace_back(1, static_cast<char>('a' + k));
    else if (k < 52)
      names.emplace_back(1, static_cast<char>('A' + k - 26));
    else
      names.push_back(fmt::format("s{}", k));
  }
  return names;
}

}  // namespace softalign
