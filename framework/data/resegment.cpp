#include "framework/data/resegment.hpp"

#include <algorithm>
#include <vector>

#include "framework/base/error.hpp"
#include "framework/base/random.hpp"
#include "framework/base/types.hpp"

namespace softalign {

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
      throw Interrupted("interrupted while cutting sentences of epoch {}", epoch + 1);
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
