// One run on several ranks (base/ranks.hpp). The first rank trains and records as a process alone would; the others
// follow it: they have the data, the model and a share of each step and each evaluation, but decide nothing and write
// nothing.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "framework/base/ranks.hpp"
#include "framework/train/evaluation.hpp"
#include "framework/train/updates.hpp"

namespace softalign {

// The first rank's side. Does nothing for a rank alone. The followers end with it.
class Leader {
 public:
  explicit Leader(Ranks& ranks) : ranks_(ranks) {}
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  Ranks& ranks() { return ranks_; }

  // Each calls the followers; then the first rank does its own share of the same work.
  void calls_for(const UpdateOrder& update);
  void calls_for(EvaluatedSentences sentences, Model& model);  // with the model's parameters of now
  void calls_for_state(std::size_t buffer);                    // of TrainingStep
  void sets_state(std::size_t buffer);
  void sets_parameters(Model& model);

 private:
  Ranks& ranks_;
};

// The other side: returns when the leader ends.
void follow(const Spec& spec, const Dataset& data, Model& model, Workers& workers, Ranks& ranks);

// For a rank that cannot follow: waits for the leader's first call.
bool leader_has_ended(Ranks& ranks);

// The failure of another rank: nothing is left to tell.
class Dismissed : public std::exception {};

// Runs `work` on all ranks; its result names what must be the same on all. If it fails anywhere, or differs, the first
// rank throws its own failure or one that names the rank, and the others throw Dismissed. Collective.
void agree(Ranks& ranks, const std::function<std::string()>& work);

}  // namespace softalign
