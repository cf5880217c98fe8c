// The contract of a search: source sentences to hypotheses, with the alignment of each. Also the lengths that
// an output may have, what a caller may demand of it, and forced decoding, of targets that are given.
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

// An <unk> of a hypothesis that is shown as another word.
struct ReplacedWord {
  Index symbol = 0;   // of the hypothesis
  Index source = -1;  // the source word in its place, from 0; -1: a prefix gave it
  std::string text;

  bool operator==(const ReplacedWord&) const = default;
};

struct Hypothesis {
  std::vector<Token> tokens;   // without </s>
  double log_probability = 0;  // of the tokens and of </s> when finished; natural logarithm
  double score = 0;            // the number that hypotheses are ranked by
  bool finished = false;       // false: the length limit came before </s>
  std::vector<double> log_probabilities;  // [steps] of each symbol given those before it
  std::vector<float>
      alignment;    // [steps, annotations]; steps = tokens (+ 1 for </s>); empty without attention
  Index drawn = 0;  // how often, by a search that draws
  std::vector<ReplacedWord> replaced = {};  // by position; a search fills in words that were copied

  std::size_t steps() const { return tokens.size() + (finished ? 1 : 0); }
};

// The hypothesis as a line that people read: as `target` joins symbols, with the words that replace some.
std::string text_of(const Hypothesis& hypothesis, const Vocabulary& target);

// What a caller demands of the outputs of a batch, besides the options of the search. Words that only a source has may
// be demanded of a model that copies (Copies).
enum class Demand { no_unknown, prefix, phrases };
struct Demands {
  using Phrase = std::vector<Token>;

  bool no_unknown = false;                            // <unk> is written only where a prefix has it
  std::span<const std::vector<Token>> prefixes = {};  // [B]: how each output begins; empty: anyhow
  std::span<const std::vector<Phrase>> phrases = {};  // [B]: each phrase occurs; empty: none

  std::span<const Token> prefix(Index sentence) const {
    return prefixes.empty() ? std::span<const Token>() : prefixes[usize(sentence)];
  }
  std::span<const Phrase> phrases_of(Index sentence) const {
    return phrases.empty() ? std::span<const Phrase>() : phrases[usize(sentence)];
  }
  // The number of steps that an output may have, at least enough for what it must contain.
  Index most_steps(Index sentence, Index limit) const;
};

class Search {
 public:
  virtual ~Search() = default;
  // For each sentence its hypotheses, best first, at least one. The tape is used up and reset. demands:
  // none that the search does not meet.
  virtual std::vector<std::vector<Hypothesis>> run(const Scorer& scorer,
                                                   Tape& tape,
                                                   const SourceBatch& source,
                                                   const Demands& demands = {}) const = 0;
  // Returns whether outputs can be made to fulfil such demands.
  virtual bool meets(Demand /*demand*/) const { return false; }
  // Largest number of hypotheses per sentence.
  virtual Index most() const = 0;
  // The option that sets it; empty: none.
  virtual std::string_view most_option() const { return {}; }
  // The option that makes it read the weights of an attention, so that a model without one is refused;
  // empty: it reads none.
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

// Throws SpecError for a search that does not meet a demand. asked_by: the option, and `type` that of the search.
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
  // seed: the run's, for a search that draws. target_length: that of every target (DataOutline), for LengthLimits.
  using Make = std::unique_ptr<Search>(std::uint64_t seed, Index target_length);
};

// Limits on the length of a search's output.
struct LengthLimits {
  double max_ratio = 2;
  Index max_extra = 10;
  std::optional<double> min_ratio = {};
  std::optional<std::string> ratio_of = {};
  Index target_length = 0;  // no option: symbols of every target of the task; 0: they differ

  // Among the options of a search.
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

  // The length that the ratios count.
  Index length(Index symbols, Index annotations) const {
    return ratio_of == "annotations" ? annotations : symbols;
  }
  // Returns whether the last step must be </s>, because all outputs have `target_length` symbols.
  bool exact() const { return target_length > 0 && !min_ratio; }
  // Steps that a hypothesis may have at most, and symbols that it must have before </s>. Lengths of
  // sources are with </s>.
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
  Hypothesis hypothesis;    // the target as one, finished, with its log probabilities and alignment
  std::vector<Token> best;  // [steps] the most probable symbol given those before it
};

// targets [B], as Batch::target has them. The tape is used up and reset.
std::vector<Forced> force(const Scorer& scorer,
                          Tape& tape,
                          const SourceBatch& source,
                          std::span<const std::span<const Token>> targets);

}  // namespace softalign

#define SOFTALIGN_SEARCH(name, Class, summary) SOFTALIGN_PLUGIN(SearchKind, name, Class, summary)
