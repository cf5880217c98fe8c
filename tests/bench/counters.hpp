// What a step costs besides time: calls of malloc (the whole program's, libraries included) and the
// most memory ever resident.
#pragma once

#include <cstdint>

namespace softalign::bench {

std::uint64_t mallocs();     // calls of malloc and its kin so far; 0 with a sanitizer
double resident_mib();       // now
double peak_resident_mib();  // since the start or the last reset
void reset_peak_resident();

}  // namespace softalign::bench
