// Computes the probabilities of the next symbols for a search, with one model or an ensemble of several. It does not
// choose symbols.
#pragma once

#include <span>
#include <vector>

#include "framework/seq/model.hpp"

namespace softalign {

// The models of an ensemble must have the same vocabularies; only sizes are compared here, so the caller must
// compare the symbols.
class Scorer {
 public:
  // The combination of several models: the mean of their probabilities, or of their log
  // probabilities, normalised again.
  enum class Mean { probabilities, log_probabilities };

  Scorer(const Model& model) : models_{&model} {}  // not explicit: a model is a scorer
  // Throws SpecError if the models have different numbers of symbols, BugError if there are no models.
  explicit Scorer(std::vector<const Model*> models, Mean mean = Mean::probabilities);

  std::span<const Model* const> models() const { return models_; }
  bool aligns() const;             // at least one model aligns
  BatchParts batch_parts() const;  // the parts that at least one model reads
  Index target_symbols() const { return models_.front()->target_symbols(); }

  // Returns the model to whose annotations the weights refer: the first that aligns, or else the first.
  const Model& aligning() const { return *models_[aligns() ? first_aligning() : 0]; }

  // Returns the memory and initial state of each model.
  std::vector<Model::Source> read(Tape& tape, const SourceBatch& source) const;
  // Returns the lengths [B] of the annotations that weights refer to.
  std::span<const Index> positions(std::span<const Model::Source> sources) const;

  struct Prediction {
    View logits;                  // [B,V], or [B,V + S] if a model copies
    View log_sums;                // [B]: log p(v) = logits[v] - log_sum, natural logarithm
    View weights;                 // [B,S] or empty
    std::span<const State> next;  // of each model
  };
  // previous: [B], the last symbol of each row. Weights are the mean over the models that align and have
  // as many annotations as the first of them.
  Prediction predict(Tape& tape,
                     std::span<const Model::Source> now,
                     std::span<const Token> previous) const;

 private:
  std::size_t first_aligning() const;

  std::vector<const Model*> models_;
  Mean mean_ = Mean::probabilities;
};

}  // namespace softalign
