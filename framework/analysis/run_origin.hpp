// The origin of a run: start, duration, host, commit, and the tags and notes of its owner.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// Texts are empty where nothing is recorded.
struct RunOrigin {
  std::vector<std::string> tags;  // of the spec, or as change_tags left them
  std::string notes;
  std::string started;          // "2026-01-31T09:00:00Z"
  double seconds = kUndefined;  // of training and dev evaluation, lost work not counted
  std::string host;             // of the newest attempt
  std::string commit;           // of the program; "-dirty" behind it: its sources differed

  template <class V>
  void describe(V& v) {
    v("tags", tags);
    v("notes", notes);
    v("started", started);
    v("seconds", seconds);
    v("host", host);
    v("commit", commit);
  }
};

RunOrigin origin_of(const Record& record);  // throws DataError where it is damaged
// Returns the origin of a run without a record: without seconds, and damaged parts empty.
RunOrigin origin_of(const RunFolder& run);

// Adds and removes tags of a run in any state; a record is sealed, so they are stored beside it, in
// RunFolder::tags(). Returns all tags. Throws SpecError for a path that is not the folder of a run, or if a tag to
// remove is missing.
std::vector<std::string> change_tags(const RunFolder& run,
                                     const std::vector<std::string>& add,
                                     const std::vector<std::string>& remove);

// The latest time of a series; NaN where it has none.
double seconds_of(const SeriesColumns& series);

}  // namespace softalign
