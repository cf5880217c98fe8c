// One run on several ranks (base/ranks.hpp). The first rank trains and records as a process alone would; the others
// follow it: they have the data and the model, and compute a share of each step and each evaluation, but decide nothing
// and write nothing.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "framework/base/ranks.hpp"
#include "framework/train/evaluation.hpp"
#include "framework/train/updates.hpp"

namespace softalign {

// The first rank's side; does nothing if there is one rank. Its destructor ends the followers.
class Leader {
 public:
  explicit Leader(Ranks& ranks) : ranks_(ranks) {}
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;
  Ranks& ranks() { return ranks_; }

  // Each function calls the followers; then the first rank does its own share of the same work.
  void calls_for(const UpdateOrder& update);
  void calls_for(EvaluatedSentences sentences, Model& model);  // sends the model's parameters
  void calls_for_state(std::size_t buffer);                    // TrainingStep::state
  void sets_state(std::size_t buffer);
  void sets_parameters(Model& model);

 private:
  Ranks& ranks_;
};

// The other ranks' side: returns when the leader ends.
void follow(const Spec& spec, const Dataset& data, Model& model, Workers& workers, Ranks& ranks);

// Waits for the leader's first call, for a rank that cannot follow, and returns whether it is the end.
bool leader_has_ended(Ranks& ranks);

// Thrown by ranks other than the first after a failure, which the first rank reports.
class Dismissed : public std::exception {};

// Runs `work` on all ranks; its result must be the same on all. If it fails on any rank, or differs, the first
// rank throws its own failure or one that names the rank, and the others throw Dismissed. Collective.
void agree(Ranks& ranks, const std::function<std::string()>& work);

}  // namespace softalign
