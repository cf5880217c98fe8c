// A sweep's plan: the list of its runs. It is written once, into the sweep's folder, and from then
// on it is the truth: whoever works on a row reads it and the frozen base spec beside it, never the
// sweep's file. Only `extend` and optuna append rows.
//
//   results/<sweep>/plan.yaml, base.yaml, <run id>/...
//
// Row k is a pure function of (sweep, k).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "framework/launch/study.hpp"
#include "framework/record/run_folder.hpp"
#include "framework/sweep/sweep.hpp"
#include "framework/sweep/sweep_folder.hpp"

namespace softalign {

struct SweepRow {
  Index k = 0;
  std::string run_id;
  Index seed = 0;
  std::vector<SweepSetting> set;
};

struct SweepPlan {
  std::filesystem::path folder;  // the sweep's, results/<name>
  std::string name;
  std::string hash;            // of Sweep::text and the base spec
  std::filesystem::path file;  // the sweep's YAML, as it was called
  SweepMethod method = SweepMethod::grid;
  SweepMetric metric;  // goal is filled
  EarlyTerminateOptions early_terminate;
  std::vector<SweepParameter> parameters;  // in the order of the sweep; read back: their paths only
  std::vector<std::string> fixed;          // of them those with one value, which tell no rows apart
  std::vector<Index> seeds;
  Index search_seed = 1;
  std::vector<std::string> notes;  // what a person should know about the expansion; not kept
  std::string base;                // text of base.yaml
  std::vector<SweepRow> rows;

  SweepFolder place() const { return {folder}; }
  RunFolder run(const SweepRow& row) const { return {folder / row.run_id}; }
};

// All rows of a sweep (for optuna none), each resolved and checked against the plugins, its data
// hashed. Nothing is written. Throws SpecError: also when two rows are one run.
SweepPlan make_plan(const Sweep& sweep, const std::filesystem::path& results, const LoadSpec& load);

// The hash that a plan of this sweep would have; quicker than making it.
std::string plan_hash(const Sweep& sweep, const LoadSpec& load);

// The rows of one more configuration, numbered behind those of the plan; for a run that the plan has
// already, its row. What optuna proposes becomes rows so.
std::vector<SweepRow> rows_of(const SweepPlan& plan,
                              const std::vector<SweepSetting>& set,
                              const LoadSpec& load);

// The row's spec, from the frozen base; its run id is checked. Throws DataError when the data has
// changed since the plan was written.
ResolvedSpec<Spec> row_spec(const SweepPlan& plan, const SweepRow& row, const LoadSpec& load);

// "units=64 score=dot seed=1".
std::string setting_text(const SweepPlan& plan, const SweepRow& row);
// The parameters that tell rows apart.
std::vector<std::string> varied_paths(const SweepPlan& plan);
// As few of a path's last words as tell it from the others: "units"; a plugin's type is named by
// its block, "score".
std::string short_path_of(const std::string& path, const std::vector<std::string>& paths);

}  // namespace softalign
