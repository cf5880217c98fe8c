// plan.jsonl and the frozen bases on disk: a line of JSON for the list, one for each row, and a last
// one with their number and the digest of all lines before it, so that an edit by hand is found.
#pragma once

#include "framework/record/file.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {

// Throws SpecError for one that is edited, cut, of another version, or not there.
RunList read_list(const std::filesystem::path& folder);

// Throws SpecError when both are of one name and no list of the same sweep.
void check_same(const RunList& list, const RunList& before);
// The same when the rows of both are not the same runs any more: DataError.
void check_runs(const RunList& made, const RunList& there);

// Writes the list where there is none, or adds the rows behind those of the one that is there.
// Throws SpecError when `list` does not begin with the rows on disk, or is another sweep's. Several
// processes may do so at once. Returns how many rows were added.
Index write_list(const RunList& list, FileSystem& files = FileSystem::real());

}  // namespace softalign
