// A sweep's file: runs that answer a question together. Its rows are listed as named variants of one or more
// base specs (a study), or as values of parameters: all combinations, side by side, drawn, or by Optuna.
// Reading only; what its runs are: runs/plan.hpp.
//
//   name: quickstart
//   question: Does a soft alignment beat a fixed-length vector, and where?
//   variants:                                     # of every part
//     none: {model.attention.type: none}          # overrides, as a map
//     dot: [model.attention.score.type=dot]       # or as on the command line
//   tiny: {train.max_updates: 2}                  # of every part without its own
//   parts:
//     reverse:
//       title: Reverse                            # of its tables
//       base: reverse.yaml                        # relative to this file
//       overrides: {train.epochs: 8}              # for all rows of the part
//       tiny: {train.max_updates: 2}              # over those, where the study is only tried
//       variants: {}                              # of this part only
//       report: {metrics: [token_accuracy]}       # the tables
//
//   name: score_functions
//   base: ../reverse.yaml                         # a file with one part has the keys of a part
//   method: grid                                  # grid | random | zip | optuna
//   parameters:                                   # in place of variants; parameter.hpp
//     model.attention.score.type: {values: [dot, general, additive]}
//     model.encoder.units: {values: [32, 64]}
//   conditions:
//     - when: {model.attention.score.type: dot}   # all must hold
//       set: {model.encoder.units: 64}            # and/or unset: [PATH]: the base's value stands
//     - exclude: {model.attention.score.type: general, model.encoder.units: 32}
//   run_cap: 60                                   # most runs; may be raised later
//   search_seed: 1                                # of what random and optuna draw
//
// and in both:
//
//   seeds: {first: 1, count: 3}                   # or a list; every configuration with every seed
//   metric: {name: dev/loss}                      # what best means
//   early_terminate: {type: asha}                 # runs/early_termination.hpp
//   claims:                                       # claim.hpp: about variants, or about the best
//     - claim: bleu(best where model.encoder.units=64) > bleu(best where model.encoder.units=32)
//   resources: {cpus: 2, memory: 4G}              # settings.hpp; not part of what the runs are
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
  std::string name;   // empty where rows are values of parameters
  std::string title;  // for people; the name when not given
  std::filesystem::path base;
  Position base_named_at;
  std::vector<Override> changes;
  std::vector<SweepVariant> variants;   // the sweep's, then its own
  std::vector<ReportedMetric> metrics;  // of the tables
};

struct SweepCondition {
  std::vector<Override> when;
  std::vector<Override> set;
  std::vector<std::string> unset;
  bool exclude = false;  // `when` names what is left out
  Position where;
};

inline constexpr Index kMostRuns = 100000;

struct Sweep : SweepSettings {
  std::filesystem::path file;
  std::string question;
  std::vector<SweepPart> parts;  // one, where rows are values of parameters
  std::vector<SweepCondition> conditions;
  std::optional<Index> run_cap;
  std::vector<StudyClaim> claims;
  Value resources = {};  // settings.hpp; null: none
  // The settings that rows of parameters are a function of, besides the base, in one canonical form; without
  // run_cap, claims, resources.
  std::string text;

  bool has_variants() const { return method == SweepMethod::variants; }
};

// Throws SpecError with file, line and column for whatever is not as above: unknown keys, names
// that cannot name folders, claims about what is not in the file.
// `tiny`: with what `tiny` says in it, one seed, and "-tiny" behind its name.
Sweep read_sweep(const std::filesystem::path& file, bool tiny = false);

// The settings of a row, in the order of the parameters.
using Configuration = std::vector<Override>;

struct Configurations {
  std::vector<Configuration> list;
  Index excluded = 0;  // by conditions
  Index equal = 0;     // made equal to an earlier one by conditions
};

// The configurations that method and conditions make of the parameters, at most `most`, always the first ones.
// Grids vary the last parameter fastest. A drawn configuration that is excluded, or equal to an earlier one, is
// drawn again. Throws SpecError when the conditions leave nothing.
Configurations expand(const Sweep& sweep, Index most);

}  // namespace softalign
