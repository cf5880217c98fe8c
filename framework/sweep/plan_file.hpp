// plan.yaml and base.yaml on disk. Every row ends in a checksum chained over all before it, so an
// edit by hand is found with its line.
#pragma once

#include "framework/record/file.hpp"
#include "framework/sweep/plan.hpp"

namespace softalign {

// Throws SpecError "plan.yaml:12:1: ..." for one that is edited, cut or of a newer version.
SweepPlan read_plan(const std::filesystem::path& folder);

// Writes the plan, or reads the one that is there and checks that it is the same sweep's: SpecError
// otherwise. Two processes may do so at once. Returns whether it was written.
bool write_plan(const SweepPlan& plan, FileSystem& files = FileSystem::real());

// Appends the rows of `longer` that the plan on disk does not have yet; its bytes stay as they are.
// Throws SpecError when `longer` does not begin with the rows on disk. Returns how many were new.
Index append_rows(const SweepPlan& longer, FileSystem& files = FileSystem::real());

}  // namespace softalign
