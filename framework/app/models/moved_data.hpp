// A record whose data moved with it: a clone or a copied folder of results in another place.
#pragma once

#include "framework/config/value.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

// Puts the new place of each file of the record's data that does not lie, as the run read it, where
// `spec`, the record's, says: below a folder that the record lies in, under the end of its old path, if it holds the bytes that
// the run read. What is not found stays as it is.
void find_moved_data(const Record& record, Value& spec);

}  // namespace softalign::app
