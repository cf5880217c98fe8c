#include "framework/eval/search.hpp"

#include <algorithm>

#include "framework/base/types.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/left_to_right.hpp"

namespace softalign {

std::string text_of(const Hypothesis& hypothesis, const Vocabulary& target) {
  if (hypothesis.replaced.empty()) return target.join(hypothesis.tokens);
  std::string text;
  const auto add = [&](const std::string& words) {
    if (!text.empty() && !words.empty()) text += ' ';
    text += words;
  };
  auto token = hypothesis.tokens.begin();
  for (const ReplacedWord& one : hypothesis.replaced) {
    const auto at = hypothesis.tokens.begin() + one.symbol;
    add(target.join({token, at}));
    add(one.text);
    token = at + 1;
  }
  add(target.join({token, hypothesis.tokens.end()}));
  return text;
}

Index Demands::most_steps(Index sentence, Index limit) const {
  std::size_t symbols = prefix(sentence).size();
  for (const Phrase& phrase : phrases_of(sentence)) symbols += phrase.size();
  return symbols == 0 ? limit : std::max(limit, static_cast<Index>(symbols) + 1);
}

std::vector<Forced> force(const Scorer& scorer,
                          Tape& tape,
                          const SourceBatch& source,
                          std::span<const std::span<const Token>> targets) {
  std::vector<Forced> forced(targets.size());
  LeftToRight growing(scorer, tape, source, 1);
  for (; growing.alive(); growing.advance()) {
    growing.predict();
    const auto step = usize(growing.step());
    for (std::size_t i = 0; i < growing.live().size(); ++i) {
      const LiveHypothesis& one = growing.live()[i];
      const auto sentence = usize(one.sentence);
      const std::span<const Token> target = targets[sentence];
      const std::span<const real> logits = growing.logits(i);
      const Token token = step < target.size() ? target[step] : kEnd;
      const double p =
          one.log_probability + static_cast<double>(logits[usize(token)] - growing.log_sum(i));
      forced[sentence].best.push_back(
          static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin()));
      if (token != kEnd)
        growing.go_on(i, token, p);
      else
        forced[sentence].hypothesis = growing.finish(i, token, p);
    }
  }
  return forced;
}

}  // namespace softalign
