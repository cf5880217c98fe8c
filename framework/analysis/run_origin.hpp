// The origin of a run: start, duration, host, commit, and the tags and notes of its owner.
#pragma once

#include <string>
#include <vector>

#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/published/open_record.hpp"

namespace softalign {

// A text is empty if nothing is recorded.
struct RunOrigin {
  std::vector<std::string> tags;  // of the spec, or as changed by change_tags
  std::string notes;
  std::string started;          // "2026-01-31T09:00:00Z"
  double seconds = kUndefined;  // of training and dev evaluation, without lost work
  std::string host;             // of the newest attempt
  std::string commit;           // of the program; ends in "-dirty" if its sources differed

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

RunOrigin origin_of(const Record& record);  // throws DataError if it is damaged
// Returns the origin of a run without a record: without seconds, with empty members for damaged files.
RunOrigin origin_of(const RunFolder& run);

// Adds and removes tags of a run in any state. Because records are sealed, the tags are stored next to the record, in
// RunFolder::tags(). Returns all tags. Throws SpecError if the path is not a run folder, a tag to add is invalid, or a
// tag to remove is missing.
std::vector<std::string> change_tags(const RunFolder& run,
                                     const std::vector<std::string>& add,
                                     const std::vector<std::string>& remove);

// Returns the latest wall time of a series in seconds; NaN if it has no times.
double seconds_of(const SeriesColumns& series);

}  // namespace softalign
