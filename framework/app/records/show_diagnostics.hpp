// What `softalign show` prints of what diagnostics found.
#pragma once

#include <string>

#include "framework/app/terminal/json.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

// Of each diagnostic and split its single numbers, first and last, and how to see the rest; "" where there is none.
std::string diagnostics_summary(const Record& record);

// All of one diagnostic: its single numbers by update, and at the last update its numbers along each axis. Throws SpecError where
// the record has none of this name.
std::string diagnostic_tables(const Record& record, const std::string& name);

// Of all, or of the one that is named: {"cost": {"test": {"energies": {"axes": ["update"], "values": [..]}}}}.
Json diagnostics_json(const Record& record, const std::string& name = "");

}  // namespace softalign::app
