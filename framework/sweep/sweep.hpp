// A sweep: an experiment's spec, and which of its options are tried with which values. Reading
// only; what its runs are: plan.hpp.
//
//   name: score_functions
//   base: ../reverse.yaml               # relative to this file
//   method: grid                        # grid | random | zip | optuna
//   parameters:                         # parameter.hpp
//     model.attention.score.type: {values: [dot, general, additive]}
//     model.encoder.units: {values: [32, 64]}
//   conditions:
//     - when: {model.attention.score.type: dot}     # all must hold
//       set: {model.encoder.units: 64}              # and/or unset: [PATH]: the base's value stands
//     - exclude: {model.attention.score.type: general, model.encoder.units: 32}
//   seeds: {first: 1, count: 3}         # or a list; every configuration with every seed
//   metric: {name: dev/loss}            # what best means
//   early_terminate: {type: asha}       # early_termination.hpp
//   run_cap: 60                         # at most so many runs; may be raised later
//   search_seed: 1                      # of what random and optuna draw
//   resources: {cpus: 2, memory: 4G}    # slurm_resources.hpp; not part of what the runs are
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/options.hpp"
#include "framework/config/value.hpp"
#include "framework/sweep/parameter.hpp"

namespace softalign {

// A value for an option of the base spec.
struct SweepSetting {
  std::string path;
  Value value;
  Position where;  // of the path
};

struct SweepCondition {
  std::vector<SweepSetting> when;
  std::vector<SweepSetting> set;
  std::vector<std::string> unset;
  bool exclude = false;  // `when` names what is left out
  Position where;
};

struct SweepMetric {
  std::string name = "dev/loss";
  std::string goal = "";  // minimize or maximize; filled by the planner
  template <class V>
  void describe(V& v) {
    v("name", name, "dev metric that runs are compared by, \"dev/\" and the name of a metric");
    v("goal",
      goal,
      "minimize or maximize; the metric's own direction when not given",
      one_of("minimize", "maximize"));
  }
};

struct EarlyTerminateOptions {
  std::string type = "none";
  Index min_updates = 1000;
  Index eta = 3;
  Index startup = 5;
  template <class V>
  void describe(V& v) {
    v("type", type, "rule that stops runs early", one_of("none", "asha", "median"));
    v("min_updates", min_updates, "no run is stopped before so many updates", at_least(1));
    v("eta", eta, "asha: one of so many runs goes on at each rung", between(2, 100));
    v("startup", startup, "median: runs to compare with before any is stopped", at_least(1));
  }
};

inline constexpr Index kMostRuns = 100000;

enum class SweepMethod { grid, random, zip, optuna };

struct Sweep {
  std::filesystem::path file;
  std::string name;
  std::filesystem::path base;
  Position base_named_at;
  SweepMethod method = SweepMethod::grid;
  std::vector<SweepParameter> parameters;  // in the order written: the last varies fastest
  std::vector<SweepCondition> conditions;
  std::vector<Index> seeds = {1};
  SweepMetric metric;
  EarlyTerminateOptions early_terminate;
  std::optional<Index> run_cap;
  Index search_seed = 1;
  Value resources;  // null when there is none
  std::string
      text;  // what its runs are a function of, in one canonical form; without run_cap, resources
};

// Throws SpecError with file, line and column for whatever is not as above.
Sweep read_sweep(const std::filesystem::path& file);

std::string to_string(SweepMethod method);

}  // namespace softalign
