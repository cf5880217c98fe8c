// Sizes that are legal one by one, and together more than the machine has: refused before anything starts.
#pragma once

#include <string>

#include "framework/base/process.hpp"
#include "framework/config/spec.hpp"
#include "framework/train/memory.hpp"

namespace softalign {

struct SizeCheck {
  MachineMemory machine = machine_memory();
  bool refuse = true;      // false: only warns
  Index side_by_side = 1;  // so many of the same size work at a time on this machine
};

// Throws SpecError, at the option of the largest part, when the estimate, `side_by_side` times, is more than
// the machine can give. Returns a note for people where it is nearly as much, or where sizes that are
// not known yet may make it more, or nothing.
std::string check_sizes(const MemoryEstimate& estimate,
                        const SizeCheck& check,
                        const Origins& origins);

// Of a run, as far as `data` says; see MemoryMeter. needed: the estimate, also when it is refused.
std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed = nullptr);

}  // namespace softalign
