// The costs of a step besides time: calls of malloc (by the whole program, including libraries) and
// peak resident memory.
#pragma once

#include <cstdint>

namespace softalign::bench {

std::uint64_t mallocs();     // calls of malloc and its relatives so far; 0 with a sanitizer
double resident_mib();       // now
double peak_resident_mib();  // since the start or the last reset
void reset_peak_resident();

}  // namespace softalign::bench
