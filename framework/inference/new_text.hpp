// Text that a model was not trained on: its symbols, and what the model does not know of it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/data/dataset.hpp"
#include "framework/data/vocabulary.hpp"
#include "framework/eval/scorer.hpp"
#include "framework/inference/trained.hpp"

namespace softalign {

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

// Lines of sources: text, or for a model that reads frames their numbers.
class NewSources {
 public:
  explicit NewSources(const TrainedRun& run) : frames_(run.frames) {
    if (run.source) symbols_.emplace(*run.source, "source");
  }

  // An example without a target; views stay valid until the next line. Throws DataError "file:line: ...".
  Example read(const std::string& line, const std::string& file, Index number);
  std::string note() const { return symbols_ ? symbols_->note() : ""; }

 private:
  FrameFormat frames_;
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

}  // namespace softalign
