// The probabilities of the next symbols, as a search asks for them, from one model or from several together (an
// ensemble). Nothing here chooses a symbol.
#pragma once

#include <span>
#include <vector>

#include "framework/seq/model.hpp"

namespace softalign {

// Several models must have the same vocabularies; their sizes are compared, their symbols are the
// caller's business.
class Scorer {
 public:
  // How several models are combined: the mean of their probabilities, or of their log
  // probabilities, normalised again.
  enum class Mean { probabilities, log_probabilities };

  Scorer(const Model& model) : models_{&model} {}  // not explicit: a model is a scorer
  // Throws SpecError for numbers of symbols that differ, BugError for no model at all.
  explicit Scorer(std::vector<const Model*> models, Mean mean = Mean::probabilities);

  std::span<const Model* const> models() const { return models_; }
  bool aligns() const;             // at least one of them does
  BatchParts batch_parts() const;  // those that at least one of them reads
  Index target_symbols() const { return models_.front()->target_symbols(); }

  // The one whose annotations weights are over: the first that aligns, or the first.
  const Model& aligning() const { return *models_[aligns() ? first_aligning() : 0]; }

  // Memory and first state of each model.
  std::vector<Model::Source> read(Tape& tape, const SourceBatch& source) const;
  // The lengths [B] of the annotations that weights are over.
  std::span<const Index> positions(std::span<const Model::Source> sources) const;

  struct Prediction {
    View logits;                  // [B,V], or [B,V + S] where one of them copies
    View log_sums;                // [B]: log p(v) = logits[v] - log_sum, natural logarithm
    View weights;                 // [B,S] or empty
    std::span<const State> next;  // of each model
  };
  // previous [B]: the last symbol of each row. Weights are the mean of the models that align and have
  // as many annotations as the first of these.
  Prediction predict(Tape& tape,
                     std::span<const Model::Source> now,
                     std::span<const Token> previous) const;

 private:
  std::size_t first_aligning() const;

  std::vector<const Model*> models_;
  Mean mean_ = Mean::probabilities;
};

}  // namespace softalign
