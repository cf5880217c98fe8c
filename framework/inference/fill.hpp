// Fills a model with the parameters of a run: those of its record, of a checkpoint, or the mean of several
// checkpoints.
#pragma once

#include <string>

#include "framework/record/published/open_record.hpp"
#include "framework/seq/model.hpp"

namespace softalign {

// The name of the parameters for a model:
//   empty             those of the record and, while it has none, what its dev evaluations chose so far: the best
//                     with early stopping, else the newest
//   best              as above
//   last              the newest checkpoint
//   500               the checkpoint of this update
//   average:5         the mean of the 5 newest checkpoints
//   average:500,1000  the mean of the checkpoints of these updates, at least two
using StateName = std::string;
std::string fault_of_state(const StateName& name);  // empty: the name is valid

// Fills the model and returns a description of its state, "the state chosen so far, of update 500 (the run is
// running)"; empty for the record's. Throws DataError if the run has no such state, SpecError for an invalid name.
std::string fill(Model& model, const Record& record, const StateName& state);

}  // namespace softalign
