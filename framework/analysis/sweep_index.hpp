// sweep.h5: the table of a sweep, one row a run, for people who open it in xarray. Its layout is
// written down in results/record.md.
//
// Its bytes are a function of the table alone, and what a table takes of a run depends on no clock:
// a sweep that was stopped and continued has the file of one that was not.
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
    std::string value;  // as the plan has it
    bool is_number = false;
  };
  struct Row {
    Index k = 0;
    std::string run_id;
    std::string path;   // of the run's folder, from the sweep's
    std::string state;  // "planned", "complete", ...
    Index seed = 0;
    std::vector<Parameter> parameters;  // in the plan's order; rows may differ in which
    std::optional<Run> run;             // nothing before the run was claimed
  };

  std::string name;
  std::string metric;  // "dev/loss"
  std::string goal;    // "minimize", "maximize"
  std::vector<Row> rows;
};

// Writes the table, in one step, unless the file has these bytes already; returns whether it did.
// Throws as check_replaceable, and MachineError when the disk fails: the file is then what it was.
bool write_sweep_index(const std::filesystem::path& file,
                       const SweepTable& table,
                       FileSystem& files = FileSystem::real());

// The curves of a sweep's runs, padded to a block.

// The dev columns of any run that do not depend on the clock.
std::set<std::string> dev_columns(const SweepTable& table);

// Writes group /curves: `update` (run, step), -1 beyond a run's end, and "dev_loss", "train_loss" and
// others, NaN where there is no value. Without any curve there is no group.
void write_curves(Hdf5Writer& file, const SweepTable& table);

}  // namespace softalign
