// Applies trained models to new text: translates it by a search, or scores given translations.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/base/json.hpp"
#include "framework/base/workers.hpp"
#include "framework/data/dataset.hpp"
#include "framework/data/task.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/inference/trained.hpp"

namespace softalign {

// Encodes new text for a model, and counts the symbols that the model does not know.
class UnknownSymbols {
 public:
  // side: "source" or "target".
  UnknownSymbols(const Vocabulary& vocabulary, const char* side)
      : vocabulary_(vocabulary), side_(side) {}

  std::vector<Token> encode(const std::string& line);
  Index count(const std::string& line) const { return std::ssize(vocabulary_.encode(line)); }

  // Returns a line with the first unknown symbols of all encoded text; empty if there were none.
  std::string note() const;

 private:
  const Vocabulary& vocabulary_;
  const char* side_;
  Index symbols_ = 0;
  Index unknown_ = 0;
  std::vector<std::string> examples_;
  bool more_ = false;  // there are other unknown symbols
};

// Reads lines of sources: text or, for a model that reads frames, numbers before normalisation by the run's
// statistics.
class NewSources {
 public:
  explicit NewSources(const TrainedRun& run)
      : task_(make_plugin<TaskKind>(run.spec().task)),
        frames_(run.frames),
        statistics_(run.statistics) {
    if (run.source) symbols_.emplace(*run.source, "source");
  }

  // Returns an example without a target; its views are valid until the next line. Throws DataError "file:line: ...".
  Example read(const std::string& line, const std::string& file, Index number);
  // Reads an array of frames, [T,F], in the same way. Throws DataError "file: array k: ...", k from 0.
  Example read(const std::vector<float>& frames, const std::string& file, Index number);
  std::string note() const { return symbols_ ? symbols_->note() : ""; }

  // Returns the number of symbols or frames; a lower bound for a line with invalid frames.
  Index length(const std::string& line) const;
  Index length(const std::vector<float>& frames) const;
  Index length(const Example& source) const;

 private:
  void normalise();  // changes numbers_

  std::unique_ptr<const Task> task_;
  FrameFormat frames_;
  FrameStatistics statistics_;
  std::optional<UnknownSymbols> symbols_;
  std::vector<Token> tokens_;
  std::vector<float> numbers_;
};

// Throws DataError "file:line: ..." for the first source that a model refuses, as an image encoder refuses
// text. lines: the lines of the examples, from 0.
void refuse_unreadable(const Scorer& scorer,
                       const Split& split,
                       const std::string& file,
                       std::span<const Index> lines);

// A translated line with its hypotheses, best first; no hypotheses for a line that has no words or was skipped.
struct Translation {
  Index line = 0;  // from 0
  std::vector<Hypothesis> hypotheses = {};
  bool skipped = false;  // the line is too long
  Index cropped = 0;     // number of symbols read of a line that is too long; 0: all
};

// Receives each hypothesis when it is found, on any thread. line, rank: from 0.
using TakeHypothesis =
    std::function<void(Index line, Index rank, const Example& source, const Hypothesis&)>;

// Called with the number of lines that are done, on any thread.
using CountLines = std::function<void(Index lines)>;

// The treatment of lines that are too long for the memory, in batches of the run's size, or that have more than
// kLongestSentence symbols. crop: their beginning is translated; skip: they are not.
enum class TooLong { refuse, crop, skip };

struct TranslatorOptions {
  Index most = 1;     // hypotheses of a sentence
  std::string input;  // names the text in errors
  TakeHypothesis take = {};
  TooLong too_long = TooLong::refuse;
  CountLines done = {};
};

// The required content of translations, by line; empty: no requirement.
struct LineDemands {
  std::vector<std::string> prefixes = {};
  std::vector<std::string> phrases = {};  // separated by tabs
  std::string phrases_file = {};          // for errors
};

// Translates text in blocks of lines. Random draws, and every bit of the output, depend only on a line and its number.
// `runs` must outlive the translator.
class Translator {
 public:
  // Throws SpecError if the search finds fewer hypotheses than requested, and as UnknownWords does.
  Translator(const TrainedRuns& runs, TranslatorOptions options);

  // Throws SpecError if the search cannot meet a demand; asked_by: the option.
  void require(Demand demand, std::string_view asked_by) const;

  std::size_t block() const;  // the best number of sentences to translate together
  // Translates lines, in order. `first`: the number of the first line, from 0. Throws DataError for a
  // phrase with a symbol that the target vocabulary lacks and the model cannot copy.
  std::vector<Translation> translate(const std::vector<std::string>& lines,
                                     Index first = 0,
                                     const LineDemands& demands = {});
  // Like translate, for arrays of frames, [T,F] each. Throws SpecError for a model that reads symbols.
  std::vector<Translation> translate_frames(const std::vector<std::vector<float>>& arrays,
                                            Index first = 0,
                                            const LineDemands& demands = {});
  std::string notes() const;  // on unknown symbols, long lines and unmet demands; "" if none

 private:
  // The examples of a block with their lines and demands.
  struct Block {
    Split split;
    std::vector<Index> line_of = {};
    std::vector<std::vector<Token>> prefixes = {};
    std::vector<std::vector<Demands::Phrase>> phrases = {};
  };
  const TrainedRun& run() const { return runs_.first(); }
  template <class Source>
  std::vector<Translation> translate_all(const std::vector<Source>& sources,
                                         Index first,
                                         const LineDemands& demands);
  template <class Source>
  Block read(const std::vector<Source>& sources,
             const LineDemands& demands,
             std::vector<Translation>& translations);
  template <class Source>
  Index longest_of(const std::vector<Source>& sources);
  std::vector<Demands::Phrase> phrases_of(const std::string& line,
                                          std::span<const std::string_view> copied,
                                          const std::string& file,
                                          Index number) const;
  void name_unknown(Hypothesis& hypothesis,
                    const std::string& prefix,
                    const std::string& source) const;

  const TrainedRuns& runs_;
  std::unique_ptr<Search> search_;
  std::unique_ptr<const UnknownWords> unknown_;
  Workers workers_;
  TranslatorOptions options_;
  NewSources sources_;
  UnknownSymbols prefixes_;
  EvaluationSizes sizes_;
  Index too_long_ = 0, first_too_long_ = 0;  // lines; the first, from 0
  Index longest_ = 0;                        // the limit for those lines, in symbols
  Index unmet_ = 0, first_unmet_ = 0;        // empty lines with a demand; the first, from 0
};

// Scores given targets of sources by forced decoding.
class ForcedDecoder {
 public:
  // `input` names the sources in errors.
  ForcedDecoder(const TrainedRuns& runs,
                std::string input,
                TakeHypothesis take = {},
                CountLines done = {});

  std::size_t block() const;
  // Returns the targets of pairs as hypotheses, in order; a hypothesis without steps if a side is empty. `first`:
  // the number of the first pair, from 0.
  std::vector<Hypothesis> decode(const std::vector<std::string>& sources,
                                 const std::vector<std::string>& targets,
                                 Index first = 0);
  std::string notes() const;  // on unknown symbols and skipped pairs; "" if none

 private:
  const TrainedRuns& runs_;
  Workers workers_;
  std::string input_;
  TakeHypothesis take_;
  CountLines done_;
  NewSources sources_;
  UnknownSymbols targets_;
  EvaluationSizes sizes_;
  Index empty_ = 0;
  Index first_empty_ = 0;  // its line, from 0
};

// Returns {"text", "score", "log_probability", "finished", "tokens", "log_probabilities"}, how often a sample was
// drawn, and the words that replace an <unk>, {"symbol", "source", "word"}, without "source" if a prefix gave them.
JsonObject hypothesis_json(const Hypothesis& hypothesis, const Vocabulary& target);
// Returns {"line", "hypotheses"}, and "skipped" or "cropped" for a line that is too long.
JsonObject translation_json(const Translation& translation, const Vocabulary& target);
// Returns the target of pair `line`: its symbols with </s> and their log probabilities.
JsonObject score_json(Index line, const Hypothesis& forced, const Vocabulary& target);

}  // namespace softalign
