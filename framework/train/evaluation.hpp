// Evaluates the dev or test sentences of a run, as its spec requires.
#pragma once

#include <memory>
#include <optional>

#include "framework/base/ranks.hpp"
#include "framework/eval/evaluator.hpp"
#include "framework/eval/ibm_model1.hpp"
#include "framework/train/observer.hpp"
#include "framework/train/spec.hpp"

namespace softalign {

enum class EvaluatedSentences { dev, test };

class Evaluation {
 public:
  // The arguments must outlive it. Trains IBM Model 1 if the test needs it.
  Evaluation(EvaluatedSentences sentences, const Spec& spec, const Dataset& data, Ranks& ranks);
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  // Collective; only the first rank has the results. Throws Interrupted if the observer requests it.
  EvaluatedSplit run(const Model& model, Workers& workers, Observer& observer);

 private:
  const Dataset& data_;
  const Split& split_;
  const char* stage_;
  std::unique_ptr<Search> search_;
  std::unique_ptr<const UnknownWords> unknown_;
  std::optional<IbmModel1> ibm_model1_;
  EvaluationRequest request_;
};

}  // namespace softalign
