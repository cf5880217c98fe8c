// A sweep: an experiment's spec, and which of its options are tried with which values. Reading
// only; what its runs are: plan_sweep.hpp.
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
//   claims:                             # claim.hpp: about the best of all, or of some
//     - claim: bleu(best where model.encoder.units=64) > bleu(best where model.encoder.units=32)
//   run_cap: 60                         # at most so many runs; may be raised later
//   search_seed: 1                      # of what random and optuna draw
//   resources: {cpus: 2, memory: 4G}    # slurm_resources.hpp; not part of what the runs are
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/override.hpp"
#include "framework/study/claim.hpp"
#include "framework/study/list_options.hpp"
#include "framework/study/parameter.hpp"

namespace softalign {

struct SweepCondition {
  std::vector<Override> when;
  std::vector<Override> set;
  std::vector<std::string> unset;
  bool exclude = false;  // `when` names what is left out
  Position where;
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
  ListOptions options;
  std::optional<Index> run_cap;
  Index search_seed = 1;
  std::vector<StudyClaim> claims;
  // What its runs are a function of, in one canonical form; without run_cap, claims, resources.
  std::string text;
};

// Throws SpecError with file, line and column for whatever is not as above.
Sweep read_sweep(const std::filesystem::path& file);

std::string to_string(SweepMethod method);
std::optional<SweepMethod> sweep_method(std::string_view name);

}  // namespace softalign
