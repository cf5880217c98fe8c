// The file of a sweep: runs that together answer a question. Its rows are named variants of one or more base
// specs (a study), or values of parameters: all combinations, side by side, random, or chosen by Optuna.
// This header only reads the file; runs/plan.hpp derives its runs.
//
//   name: quickstart
//   question: Does a soft alignment beat a fixed-length vector, and where?
//   variants:                                     # for every part
//     none: {model.attention.type: none}          # overrides, as a map
//     dot: [model.attention.score.type=dot]       # or as on the command line
//   tiny: {train.max_updates: 2}                  # for every part without its own
//   parts:
//     reverse:
//       title: Reverse                            # title of its tables
//       base: reverse.yaml                        # relative to this file
//       overrides: {train.epochs: 8}              # for all rows of the part
//       tiny: {train.max_updates: 2}              # further overrides of a trial run (--tiny)
//       variants: {}                              # for this part only
//       report: {metrics: [token_accuracy]}       # columns of the tables
//
//   name: score_functions
//   base: ../reverse.yaml                         # a file with one part has the keys of a part
//   method: grid                                  # grid | random | zip | optuna
//   parameters:                                   # instead of variants; parameter.hpp
//     model.attention.score.type: {values: [dot, general, additive]}
//     model.encoder.units: {values: [32, 64]}
//   conditions:
//     - when: {model.attention.score.type: dot}   # all must hold
//       set: {model.encoder.units: 64}            # and/or unset: [PATH], to use the base's value
//     - exclude: {model.attention.score.type: general, model.encoder.units: 32}
//   run_cap: 60                                   # maximum number of runs; may be raised later
//   search_seed: 1                                # seed of the draws of random and optuna
//
// and in both:
//
//   seeds: {first: 1, count: 3}                   # or a list; every configuration with every seed
//   metric: {name: dev/loss}                      # defines which configuration is best
//   early_terminate: {type: asha}                 # runs/early_termination.hpp
//   claims:                                       # claim.hpp: about variants, or about the best
//     - claim: bleu(best where model.encoder.units=64) > bleu(best where model.encoder.units=32)
//   resources: {cpus: 2, memory: 4G}              # settings.hpp; not part of the run IDs
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "framework/config/merge.hpp"
#include "framework/study/claim.hpp"
#include "framework/study/settings.hpp"

namespace softalign {

struct SweepVariant {
  std::string name;
  std::vector<Override> changes;
};

struct ReportedMetric {
  std::string name;
  Position where;
};

struct SweepPart {
  std::string name;   // empty if rows are values of parameters
  std::string title;  // shown in tables; the name by default
  std::filesystem::path base;
  Position base_named_at;
  std::vector<Override> changes;
  std::vector<SweepVariant> variants;   // those of the sweep, then those of the part
  std::vector<ReportedMetric> metrics;  // columns of the tables
};

struct SweepCondition {
  std::vector<Override> when;
  std::vector<Override> set;
  std::vector<std::string> unset;
  bool exclude = false;  // rows that match `when` are left out
  Position where;
};

inline constexpr Index kMostRuns = 100000;

struct Sweep : SweepSettings {
  std::filesystem::path file;
  std::string question;
  std::vector<SweepPart> parts;  // a single one if rows are values of parameters
  std::vector<SweepCondition> conditions;
  std::optional<Index> run_cap;
  std::vector<StudyClaim> claims;
  Value resources = {};  // settings.hpp; null: not given
  // The settings that, with the base, determine rows of parameters, in canonical form; without run_cap, claims and
  // resources.
  std::string text;

  bool has_variants() const { return method == SweepMethod::variants; }
};

// Throws SpecError with file, line and column for a file that is not as above: unknown keys, names that
// cannot name folders, claims about variants or parameters that it does not have.
// tiny: applies the overrides of its `tiny` keys, with one seed, and appends "-tiny" to its name.
Sweep read_sweep(const std::filesystem::path& file, bool tiny = false);

// The parameter values of a row, in the order of the parameters.
using Configuration = std::vector<Override>;

struct Configurations {
  std::vector<Configuration> list;
  Index excluded = 0;  // number excluded by conditions
  Index equal = 0;     // number of duplicates, made equal by conditions or drawn again
};

// Returns the first `most` configurations that method and conditions make of the parameters. Grids vary the last
// parameter fastest. A drawn configuration that is excluded, or equal to an earlier one, is drawn again. Throws
// SpecError if the conditions exclude everything, or draws give no new configuration.
Configurations expand(const Sweep& sweep, Index most);

}  // namespace softalign
