// What a run would be, without running it: its identity and its sizes. Writes nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "framework/app/terminal/json.hpp"
#include "framework/config/spec.hpp"
#include "framework/record/folder/status.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

struct Plan {
  std::string run_id;
  std::filesystem::path folder;
  RunStatus status;                         // of an earlier attempt
  std::optional<std::string> goes_on_from;  // "run 3f2a at update 500"
  // Sub-words are still to be trained: symbols and parameters are at most so many, the rest is not known.
  bool trains_subwords = false;
  Index parameters = 0;
  SourceFormat source = Index{0};
  Index target_symbols = 0;
  Index train = 0, dev = 0, test = 0;  // sentences that are kept
  Index updates_per_epoch = 0;
  bool about = false;  // epochs differ in how many updates they have: these are the first epoch's
  Index updates = 0;   // unless training stops early
};

// Reads the data, but trains no sub-words. Throws as run_experiment does for a wrong spec or wrong data.
Plan plan_run(const ResolvedSpec<Spec>& resolved,
              const ExperimentOptions& options,
              const std::filesystem::path& results,
              Observer& observer);

std::string plan_text(const Plan& plan);
Json plan_json(const Plan& plan);

}  // namespace softalign::app
