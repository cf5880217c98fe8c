// A run's summary as bytes and back, for the index. Its folder is not among them: who has the bytes
// knows where the run lies.
#pragma once

#include <string>
#include <string_view>

#include "framework/analysis/run_summary.hpp"

namespace softalign {

std::string pack(const RunSummary& summary);
// Throws DataError for bytes that `pack` did not make.
RunSummary unpack(std::string_view bytes);

}  // namespace softalign
