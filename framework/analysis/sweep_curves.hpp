// The curves of a sweep's runs, padded to a block: for sweep_index.cpp.
#pragma once

#include <set>
#include <string>

#include "framework/analysis/sweep_index.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {

// The dev columns of any run that do not depend on the clock.
std::set<std::string> dev_columns(const SweepTable& table);

// Group /curves: `update` (run, step), -1 beyond a run's end, and "dev_loss", "train_loss" and the
// like, NaN where there is no value. No group where no run has a curve.
void write_curves(Hdf5Writer& file, const SweepTable& table);

}  // namespace softalign
