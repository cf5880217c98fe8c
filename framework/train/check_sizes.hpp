// Refuses sizes that are legal one by one but together exceed the machine's memory, before anything starts. The
// memory of models is estimated in memory.hpp, that of the data here.
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
  Index side_by_side = 1;  // number of such runs that train together on this machine
  int ranks = 1;           // processes that share a run
};

// Throws SpecError, at the option of the largest part, if `side_by_side` times the estimate exceeds the memory of
// the machine. Returns a note for the user if it comes close, or if it may exceed it because sizes are not known
// yet; else "".
std::string check_sizes(const MemoryEstimate& estimate,
                        const SizeCheck& check,
                        const Origins& origins);

// Checks a run by the sizes in `data`; see MemoryMeter. needed: receives the estimate, even if the run is refused.
std::string check_run_sizes(const ResolvedSpec<Spec>& resolved,
                            const DataOutline& data,
                            int threads,
                            const SizeCheck& check,
                            MemoryEstimate* needed = nullptr);

// The memory of a run's data, from their outline.

// Returns the size of a vocabulary; if it is not known yet, one symbol besides the specials.
Index at_least_one_symbol(Index known);

// Fills in unknown lengths: all from 1 to the longest are equally likely, and an unknown longest is that of training.
DataOutline assumed(DataOutline data);

// Bytes of a symbol's name and the following space, as tasks name their symbols.
double name_bytes(Index symbols);
double bytes_of_names(const DataOutline& data);
double bytes_of_vocabularies(const DataOutline& data);
// Bytes of the examples in memory (data/dataset.hpp), their texts a little longer than the symbols' names.
double bytes_of_examples(const DataOutline& data);

// Returns the number of pairs of symbols that occur together; if not counted, all pairs are assumed equally likely.
Index cells_of(const DataOutline& data);

// The mean length of a sentence's longer side, with </s>.
Index typical_length(const DataOutline::SplitOutline& split);

// Upper bounds for one run, which may stop early.
double updates_of(const TrainOptions& train, const DataOutline::SplitOutline& data);
double dev_evaluations_of(const Spec& spec, const DataOutline::SplitOutline& train);

}  // namespace softalign
