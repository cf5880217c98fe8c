// What is not the same in a record and in another run of its spec.
#pragma once

#include <string>
#include <vector>

#include "framework/base/path.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign::app {

// Paths of values that differ, as compare_records has them. whole: false: the other run was ended before,
// and what training and dev recorded until then is compared, "train/loss at update 17", and what was
// known before training. A metric that is newer than the record is no difference.
std::vector<std::string> differing_values(const Record& record, const fs::path& again, bool whole);

}  // namespace softalign::app
