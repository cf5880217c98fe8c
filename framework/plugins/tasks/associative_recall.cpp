// Task associative_recall: keys with their values, then queries of some keys, whose values are the target: c 9
// k 8 j 3 ? k -> 8 (Ba et al. 2016, section 4.1; Graves et al. 2014, section 4.3, recall the item after the
// queried one). With `hops: 2` the value of a queried key is itself a key, whose value is the target: c k e j
// k 8 j 3 ? c -> 8. A sentence then has chains of `hops` pairs, whose pairs are shuffled.
#include <array>
#include <numeric>
#include <optional>

#include "framework/base/types.hpp"
#include "framework/data/build_vocabulary.hpp"
#include "framework/data/synthetic.hpp"

namespace softalign {
namespace {

struct RecallOptions {
  Index keys = 26;
  Index values = 10;
  Index queries = 1;
  std::optional<Index> hops;  // absent, not 1, so that specs without it keep their run IDs
  SyntheticOptions::Lengths pairs{{2, 8}, {2, 8}, {2, 16}};
  SyntheticOptions::Examples examples;
  Index data_seed = 1;

  template <class V>
  void describe(V& v) {
    v("keys", keys, "different keys", between(1, kMostSymbols / 2));
    v("values", values, "different values", between(1, kMostSymbols / 2));
    v("queries",
      queries,
      "number of queried keys, each pair being equally likely",
      between(1, 1000));
    v("hops",
      hops,
      "pairs from a queried key to the target: the value of each is the key of the next; null: 1",
      between(1, 1000));
    v("pairs",
      pairs,
      "pairs per sentence, of hops > 1 chains of pairs, drawn uniformly from [shortest, longest]; "
      "keys differ");
    v("examples", examples, "sentences in each split");
    v("data_seed",
      data_seed,
      "seed of the sentences; does not depend on the seed of the run",
      at_least(0));
    for (const auto* length : {&pairs.train, &pairs.dev, &pairs.test})
      v.check("keys",
              length->size() != 2 || (*length)[1] * hops.value_or(1) <= keys,
              fmt::format("{} keys are too few for {} pairs; the keys of a sentence differ",
                          keys,
                          length->size() == 2 ? (*length)[1] * hops.value_or(1) : 0));
  }
};

class AssociativeRecall final : public Task {
 public:
  using Options = RecallOptions;
  explicit AssociativeRecall(const Options& options) : options_(options) {}

  Dataset load(std::uint64_t, const Progress&) const override {
    Dataset data;
    std::vector<std::string> symbols = symbol_names(options_.keys), values;
    for (Index k = 0; k < options_.values; ++k) values.push_back(fmt::format("{}", k));
    symbols.insert(symbols.end(), values.begin(), values.end());
    symbols.emplace_back("?");
    data.source = symbol_vocabulary(symbols);
    data.target = symbol_vocabulary(values);
    data.has_links = true;
    const auto fill =
        [&](Split& split, const char* name, const std::vector<Index>& pairs, Index examples) {
          const auto append = [&](const RandomStream& stream, std::uint64_t i) {
            draw(stream, i, pairs, data, split.examples);
          };
          fill_split(split, name, options_.data_seed, examples, append);
        };
    fill(data.train, "train", options_.pairs.train, options_.examples.train);
    fill(data.dev, "dev", options_.pairs.dev, options_.examples.dev);
    fill(data.test, "test", options_.pairs.test, options_.examples.test);
    return data;
  }

  DataOutline outline() const override {
    const auto split = [&](const char* name, Index examples, const std::vector<Index>& pairs) {
      const DataOutline::Lengths drawn =
          drawn_lengths(name, options_.data_seed, examples, pairs, first_number());
      const Index others = 1 + options_.queries;
      return DataOutline::SplitOutline{
          .examples = examples,
          .source = DataOutline::Lengths::even(2 * hops() * drawn.shortest + others,
                                               2 * hops() * drawn.longest + others),
          .target = DataOutline::Lengths::even(options_.queries, options_.queries)};
    };
    return {.source_symbols = kSpecials + options_.keys + options_.values + 1,
            .target_symbols = kSpecials + options_.values,
            .one_vocabulary = false,
            .train = split("train", options_.examples.train, options_.pairs.train),
            .dev = split("dev", options_.examples.dev, options_.pairs.dev),
            .test = split("test", options_.examples.test, options_.pairs.test)};
  }

 private:
  Index hops() const { return options_.hops.value_or(1); }
  // The first random number after those that draw the keys. It draws the number of pairs, later ones
  // draw the rest.
  std::uint64_t first_number() const { return static_cast<std::uint64_t>(options_.keys + 1); }
  void draw(const RandomStream& stream,
            std::uint64_t i,
            const std::vector<Index>& lengths,
            const Dataset& data,
            Examples& examples) const {
    auto next = first_number();
    const auto below = [&](Index bound) -> Index {
      return stream.below(static_cast<std::uint32_t>(bound), next++, i);
    };
    const Index count = draw_length(lengths, stream, next++, i);
    const std::vector<Index> keys = stream.permutation(options_.keys, i);
    // Chain c has the keys [c hops, (c + 1) hops), the last of which has a value.
    std::vector<std::array<Token, 2>> pairs;
    const auto key = [&](Index k) { return kSpecials + static_cast<Token>(keys[usize(k)]); };
    for (Index k = 0; k < count * hops(); ++k)
      pairs.push_back({key(k),
                       (k + 1) % hops() == 0
                           ? kSpecials + static_cast<Token>(options_.keys + below(options_.values))
                           : key(k + 1)});
    std::vector<Index> order(pairs.size());  // of the pairs in the sentence
    std::iota(order.begin(), order.end(), Index{0});
    for (Index k = std::ssize(order) - 1; k > 0 && hops() > 1; --k)
      std::swap(order[usize(k)], order[usize(below(k + 1))]);
    std::vector<Token> source, target;
    std::vector<Link> links;
    for (const Index k : order)
      source.insert(source.end(), pairs[usize(k)].begin(), pairs[usize(k)].end());
    source.push_back(kSpecials + static_cast<Token>(options_.keys + options_.values));
    for (Index q = 0; q < options_.queries; ++q) {
      const Index first = below(count) * hops(), last = first + hops() - 1;
      const Index place = 2 * (std::find(order.begin(), order.end(), last) - order.begin()) + 1;
      source.push_back(pairs[usize(first)][0]);
      target.push_back(source[usize(place)] - static_cast<Token>(options_.keys));
      links.push_back({place, q, true});
    }
    examples.append({source, target, links, data.source->join(source), data.target->join(target)});
  }

  Options options_;
};

SOFTALIGN_TASK("associative_recall",
               AssociativeRecall,
               "pairs of key and value, then keys whose values are wanted (Ba et al. 2016)");

}  // namespace
}  // namespace softalign
