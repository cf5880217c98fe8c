// The plugins that a run was made with: how a record names them, and whether those that are loaded
// now are the same.
#pragma once

#include <string>
#include <vector>

#include "framework/record/journal/history.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// A JSON array of "file sha256:digest" for every plugin that is loaded: the attribute `plugins` of
// /provenance.
std::string plugins_json();

// The plugins of a run that are not loaded now with the same bytes, behind "made by": "another
// distance.so (sha256 680f20b3.. then, 54251c9a.. now)". The file may have moved.
std::vector<std::string> changed_plugins(const Record& record);
// The same of a run that is not over, from its journals.
std::vector<std::string> changed_plugins(const History& history);

}  // namespace softalign
