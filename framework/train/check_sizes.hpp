// Refuses sizes that are legal one by one but together exceed the machine's memory, before anything starts. Memory
// of the model is in memory.hpp; that of the data is here.
#pragma once

#include <string>

#include "framework/base/process.hpp"
#include "framework/config/spec.hpp"
#include "framework/data/task.hpp"
#include "framework/train/memory.hpp"

namespace softalign {

struct SizeCheck {
  MachineMemory machine = machine_memory();
  bool refuse = true;      // false: only warns
  Index side_by_side = 1;  // runs of this size that work at a time on this machine
  int ranks = 1;           // processes that share a run
};

// Throws SpecError, at the option of the largest part, when the estimate, `side_by_side` times, is more than
// the machine can give. Returns a note for people where it is nearly as much, or where sizes that are
// not known yet may make it more, or nothing.
std::string check_sizes(const MemoryEstimate& estimate,
                        const SizeCheck& check,
                        const Origins& origins);

// Checks a run, as far as `data` says; see MemoryMeter. needed: the estimate, also when it is refused.
std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed = nullptr);

// The memory of a run's data, from their outline.

// The size of a vocabulary that may not be known yet: one symbol besides the specials.
Index at_least_one_symbol(Index known);

// Unknown lengths are assumed to be as even as possible, and no longer than in training.
DataOutline assumed(DataOutline data);

// Bytes of a symbol's name and the following space, as tasks name their symbols.
double name_bytes(Index symbols);
double bytes_of_names(const DataOutline& data);
double bytes_of_vocabularies(const DataOutline& data);
// Bytes of the examples in memory (data/dataset.hpp), their texts a little longer than the symbols' names.
double bytes_of_examples(const DataOutline& data);

// Pairs of symbols that occur together. If they were not counted, all pairs are assumed to be equally likely.
Index cells_of(const DataOutline& data);

// The mean length of a sentence's longer side, with </s>.
Index typical_length(const DataOutline::SplitOutline& split);

// At most, of a run.
double updates_of(const TrainOptions& train, const DataOutline::SplitOutline& data);
double dev_evaluations_of(const Spec& spec, const DataOutline::SplitOutline& train);

}  // namespace softalign
