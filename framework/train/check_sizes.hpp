// Sizes that are legal one by one, and together more than the machine has: refused before anything starts,
// with what would have to be lowered.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "framework/base/machine_memory.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/memory.hpp"

namespace softalign {

struct SizeCheck {
  MachineMemory machine = machine_memory();
  bool refuse = true;      // false: says so and goes on
  Index side_by_side = 1;  // so many of the same size work at a time on this machine
};

// What a spec would take on so many threads.
using EstimateMemory = std::function<MemoryEstimate(const Spec&, int threads)>;

// Throws SpecError when the estimate, `side_by_side` times, is more than the machine can give: with the
// options that would have to be lowered, and to what. Options are tried whose path begins with one of
// `open`; `without` is left out of the paths that are needed. Returns a note for people where it is nearly
// as much, or nothing.
std::string check_sizes(const ResolvedSpec<Spec>& resolved,
                        const EstimateMemory& estimate,
                        int threads,
                        const SizeCheck& check,
                        const std::vector<std::string>& open = {""},
                        const std::string& without = "");

// Of a run, as far as `data` says; see MemoryMeter. needed: the estimate, also when it is refused.
std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed = nullptr);

}  // namespace softalign
