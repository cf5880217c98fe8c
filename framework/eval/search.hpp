// The interface of searches, which map source sentences to hypotheses with alignments. Also the limits on the length of
// outputs, the demands that a caller may make on them, and forced decoding of given targets.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/registry.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/scorer.hpp"

namespace softalign {

// An <unk> of a hypothesis that is displayed as another word.
struct ReplacedWord {
  Index symbol = 0;   // its index in the hypothesis
  Index source = -1;  // index of the source word that replaces it; -1: the word is from a prefix
  std::string text;

  bool operator==(const ReplacedWord&) const = default;
};

struct Hypothesis {
  std::vector<Token> tokens;   // without </s>
  double log_probability = 0;  // of the tokens, and of </s> if finished; natural logarithm
  double score = 0;            // by which hypotheses are ranked
  bool finished = false;       // false: the length limit was reached before </s>
  std::vector<double> log_probabilities;  // [steps] of each symbol given the preceding ones
  std::vector<float>
      alignment;    // [steps, annotations]; steps = tokens (+ 1 for </s>); empty without attention
  Index drawn = 0;  // number of equal samples, for a search that samples
  std::vector<ReplacedWord> replaced = {};  // in order; a search adds the words that it copied

  std::size_t steps() const { return tokens.size() + (finished ? 1 : 0); }
};

// Returns the hypothesis as a readable line: its symbols, joined by `target`, with replaced words.
std::string text_of(const Hypothesis& hypothesis, const Vocabulary& target);

// The demands of a caller on the outputs of a batch, besides the options of the search. From a model that copies, words
// that only a source has may be demanded (Copies).
enum class Demand { no_unknown, prefix, phrases };
struct Demands {
  using Phrase = std::vector<Token>;

  bool no_unknown = false;                            // <unk> must not occur outside prefixes
  std::span<const std::vector<Token>> prefixes = {};  // [B]: of each output; empty: no prefixes
  std::span<const std::vector<Phrase>> phrases = {};  // [B]: must occur; empty: no phrases

  std::span<const Token> prefix(Index sentence) const {
    return prefixes.empty() ? std::span<const Token>() : prefixes[usize(sentence)];
  }
  std::span<const Phrase> phrases_of(Index sentence) const {
    return phrases.empty() ? std::span<const Phrase>() : phrases[usize(sentence)];
  }
  // Returns the largest number of steps of an output: `limit`, or more if its prefix and phrases need them.
  Index most_steps(Index sentence, Index limit) const;
};

class Search {
 public:
  virtual ~Search() = default;
  // Returns the hypotheses of each sentence, at least one, best first. The tape is used and reset. demands: the
  // search must meet them.
  virtual std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                                   Tape& tape,
                                                   const SourceBatch& source,
                                                   const Demands& demands = {}) const = 0;
  // Returns whether the search can meet this kind of demand.
  virtual bool meets(Demand /*demand*/) const { return false; }
  // Returns the largest number of hypotheses per sentence.
  virtual Index most() const = 0;
  // Returns the name of the option that sets most(); empty if there is none.
  virtual std::string_view most_option() const { return {}; }
  // Returns the name of the option for which the search reads attention weights, so that a model without attention
  // is refused; empty if it does not read them.
  virtual std::string_view attention_option() const { return {}; }
};

// Throws SpecError for models that the search cannot be used with. block: the key of the search in
// the spec.
inline void check_search(const Search& search, const Scorer& scorer, std::string_view block) {
  if (const std::string_view option = search.attention_option();
      !option.empty() && !scorer.aligns())
    throw SpecError(
        "{}.{}: it reads attention weights, but the model has none; remove it", block, option);
}

// Throws SpecError if the search does not meet a demand. asked_by: the option that demands it; type: of the search.
inline void check_demand(const Search& search,
                         Demand demand,
                         std::string_view asked_by,
                         std::string_view type) {
  if (!search.meets(demand))
    throw SpecError("{}: search '{}' cannot do this; choose {}",
                    asked_by,
                    type,
                    demand == Demand::phrases ? "search=beam" : "beam, greedy or sample");
}

struct SearchKind {
  static constexpr const char* name = "search";
  // seed: of the run, for a search that samples. target_length: of every target (DataOutline), for LengthLimits.
  using Make = std::unique_ptr<Search>(std::uint64_t seed, Index target_length);
};

// Limits on the length of a search's output.
struct LengthLimits {
  double max_ratio = 2;
  Index max_extra = 10;
  std::optional<double> min_ratio = {};
  std::optional<std::string> ratio_of = {};
  Index target_length = 0;  // not an option: length of all targets of the task; 0: they differ

  // These options are among those of a search.
  template <class V>
  void describe(V& v) {
    v("max_ratio",
      max_ratio,
      "longest output: max_ratio * source length + max_extra",
      positive_up_to(100));
    v("max_extra", max_extra, "see max_ratio", between(0, kLongestSentence));
    v("min_ratio",
      min_ratio,
      "no </s> before min_ratio * source length symbols, rounded down; GroundHog's is 0.5; null: "
      "0, "
      "or where all targets of the task have one length, exactly that, whatever max_ratio is",
      between(0, 100));
    v.check("min_ratio",
            min_ratio.value_or(0) <= max_ratio,
            "must be at most max_ratio, or no sentence could end");
    v("ratio_of",
      ratio_of,
      "length that the ratios refer to: source symbols (of an image: pixels) or annotations; null: "
      "symbols",
      one_of("symbols", "annotations"));
  }

  // Returns the length that the ratios refer to.
  Index length(Index symbols, Index annotations) const {
    return ratio_of == "annotations" ? annotations : symbols;
  }
  // Returns whether the last step must be </s>, because all outputs have `target_length` symbols.
  bool exact() const { return target_length > 0 && !min_ratio; }
  // Return the largest number of steps of a hypothesis, and the smallest number of its symbols before </s>. Source
  // lengths include </s>.
  Index most_steps(Index source) const {
    if (exact()) return target_length + 1;
    const auto ratio = static_cast<Index>(max_ratio * static_cast<double>(source));
    return std::max<Index>(1, ratio + max_extra);
  }
  Index least_symbols(Index source) const {
    if (exact()) return target_length;
    return static_cast<Index>(min_ratio.value_or(0) * static_cast<double>(source));
  }
};

// Forced decoding of given target sentences by a model or an ensemble.
struct Forced {
  Hypothesis hypothesis;    // the target as a finished hypothesis, with alignment
  std::vector<Token> best;  // [steps] the most probable symbol given the preceding ones
};

// targets: [B], as returned by Batch::target. The tape is used and reset.
std::vector<Forced> force(const Scorer& scorer,
                          Tape& tape,
                          const SourceBatch& source,
                          std::span<const std::span<const Token>> targets);

}  // namespace softalign

#define SOFTALIGN_SEARCH(name, Class, summary) SOFTALIGN_PLUGIN(SearchKind, name, Class, summary)
