// New text through trained models: translated by a search, or its given translations scored.
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
#include "framework/data/vocabulary.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/eval/search.hpp"
#include "framework/inference/trained.hpp"

namespace softalign {

// New text for a model: its symbols, and which of them the model does not know.
class UnknownSymbols {
 public:
  // side: "source" or "target".
  UnknownSymbols(const Vocabulary& vocabulary, const char* side)
      : vocabulary_(vocabulary), side_(side) {}

  std::vector<Token> encode(const std::string& line);

  // A line with the first unknown symbols of all that was encoded; empty when there were none.
  std::string note() const;

 private:
  const Vocabulary& vocabulary_;
  const char* side_;
  Index symbols_ = 0;
  Index unknown_ = 0;
  std::vector<std::string> examples_;
  bool more_ = false;  // there are others
};

// Lines of sources: text, or for a model that reads frames their numbers, as they are before the run's statistics
// normalise them.
class NewSources {
 public:
  explicit NewSources(const TrainedRun& run) : frames_(run.frames), statistics_(run.statistics) {
    if (run.source) symbols_.emplace(*run.source, "source");
  }

  // An example without a target; views stay valid until the next line. Throws DataError "file:line: ...".
  Example read(const std::string& line, const std::string& file, Index number);
  // The same for frames, [T,F]. Throws DataError "file: array k: ...", k from 0.
  Example read(const std::vector<float>& frames, const std::string& file, Index number);
  std::string note() const { return symbols_ ? symbols_->note() : ""; }

 private:
  FrameFormat frames_;
  FrameStatistics statistics_;
  std::optional<UnknownSymbols> symbols_;
  std::vector<Token> tokens_;
  std::vector<float> numbers_;
};

// Throws DataError "file:line: ..." for the first source that a model refuses, as an encoder of images
// does text. lines: of the examples, from 0.
void refuse_unreadable(const Scorer& scorer,
                       const Split& split,
                       const std::string& file,
                       std::span<const Index> lines);

// A translated line with its hypotheses, best first; empty for a line without words.
struct Translation {
  Index line = 0;  // from 0
  std::vector<Hypothesis> hypotheses;
};

// Receives each hypothesis when it is found, on any thread. line, rank: from 0.
using TakeHypothesis =
    std::function<void(Index line, Index rank, std::span<const Token> source, const Hypothesis&)>;

// Text by blocks of lines. What is drawn at random, and every bit, depends on a line and its number alone. `runs` must
// outlive it; `input` names the text in errors.
class Translator {
 public:
  // The best `most` hypotheses of a sentence. Throws SpecError where the search finds fewer.
  Translator(const TrainedRuns& runs, Index most, std::string input, TakeHypothesis take = {});

  std::size_t block() const;  // sentences that are best translated together
  // The translations of lines, in order. `first`: the number of the first line, from 0.
  std::vector<Translation> translate(const std::vector<std::string>& lines, Index first = 0);
  // The same of arrays of frames, [T,F] each. Throws SpecError for a model that reads symbols.
  std::vector<Translation> translate_frames(const std::vector<std::vector<float>>& arrays,
                                            Index first = 0);
  std::string note() const { return sources_.note(); }

 private:
  template <class Sources>
  std::vector<Translation> translate_sources(const Sources& sources, Index first);
  const TrainedRun& run() const { return runs_.first(); }

  const TrainedRuns& runs_;
  std::unique_ptr<Search> search_;
  Workers workers_;
  Index most_;
  std::string input_;
  TakeHypothesis take_;
  NewSources sources_;
  EvaluationSizes sizes_;
};

// Sources with the targets that are forced on the decoder.
class ForcedDecoder {
 public:
  // `input` names the sources in errors.
  ForcedDecoder(const TrainedRuns& runs, std::string input, TakeHypothesis take = {});

  std::size_t block() const;
  // The targets of pairs as hypotheses, in order; one without steps where a side is empty. `first`:
  // the number of the first pair, from 0.
  std::vector<Hypothesis> decode(const std::vector<std::string>& sources,
                                 const std::vector<std::string>& targets,
                                 Index first = 0);
  std::string notes() const;  // lines that were skipped or changed; empty if none

 private:
  const TrainedRuns& runs_;
  Workers workers_;
  std::string input_;
  TakeHypothesis take_;
  NewSources sources_;
  UnknownSymbols targets_;
  EvaluationSizes sizes_;
  Index empty_ = 0;
  Index first_empty_ = 0;  // its line, from 0
};

// {"text", "score", "log_probability", "finished", "tokens", "log_probabilities"}, and how often a sample was drawn.
JsonObject hypothesis_json(const Hypothesis& hypothesis, const Vocabulary& target);
JsonObject translation_json(const Translation& translation, const Vocabulary& target);
// The target of pair `line`: its symbols with </s> and their log probabilities.
JsonObject score_json(Index line, const Hypothesis& forced, const Vocabulary& target);

}  // namespace softalign
