// Which parameters of a run a model gets: those that its record ends with, or a checkpoint's.
#pragma once

#include <string>

#include "framework/record/published/open_record.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

// "best", "last" or an update; empty: the record's and, while it has none, what its dev evaluations chose so far: the best with early
// stopping, else the newest.
using StateName = std::string;
std::string fault_of_state(const StateName& name);  // empty: it is one of these

// Fills the model and returns which state that is, "the state chosen so far, of update 500 (the run is running)"; empty
// for the record's. Throws DataError where the run has no such state.
std::string fill(Model& model, const Record& record, const StateName& state);

}  // namespace softalign
