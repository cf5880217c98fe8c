// sweep.h5: the table of a sweep with one row per run, for analysis in xarray. Its layout is
// documented in results/record.md.
//
// Its bytes are a function of the table alone, and no value in the table depends on the clock:
// a sweep that was stopped and resumed has the same file as an uninterrupted one.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "framework/analysis/run.hpp"
#include "framework/record/file.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {

struct SweepTable {
  struct Parameter {
    std::string path;   // "train.optimizer.learning_rate"
    std::string value;  // as written in the plan
    bool is_number = false;
  };
  struct Row {
    Index k = 0;
    std::string run_id;
    std::string path;   // of the run folder, relative to the sweep folder
    std::string state;  // "planned", "complete", ...
    Index seed = 0;
    std::vector<Parameter> parameters;  // in the plan's order; rows may have different ones
    std::optional<Run> run;             // empty until the run is claimed
  };

  std::string name;
  std::string metric;  // "dev/loss"
  std::string goal;    // "minimize", "maximize"
  std::vector<Row> rows;
};

// Writes the table atomically, unless the file already has these bytes; returns whether it was written.
// Throws like check_replaceable, and MachineError if the disk fails: the file is then unchanged.
bool write_sweep_index(const std::filesystem::path& file,
                       const SweepTable& table,
                       FileSystem& files = FileSystem::real());

// The curves of a sweep's runs, padded to a block.

// Returns the dev columns of all runs that do not depend on the clock.
std::set<std::string> dev_columns(const SweepTable& table);

// Writes the group /curves: `update` (run, step), -1 after the end of a run, and "dev_loss", "train_loss" and
// others, NaN for missing values. Writes nothing if no run has a curve.
void write_curves(Hdf5Writer& file, const SweepTable& table);

}  // namespace softalign
