// What a run was made from, as its folder holds it: spec.yaml for people, identity.json with the
// hash that is the run's id. Checks that they are whole and say the same; it reads no option's
// meaning, so it needs neither the run's plugins nor the version that wrote them.
#pragma once

#include <string>
#include <vector>

#include "framework/record/run_folder.hpp"

namespace softalign {

// Throws DataError with file, fault and remedy when one of the two is missing or damaged. `except`:
// paths of the options that change no number, so that identity.json has their defaults whatever
// spec.yaml says (Spec::options_outside_run_id).
void check_setting(const RunFolder& run,
                   const std::string& run_id,
                   const std::vector<std::string>& except);

}  // namespace softalign
