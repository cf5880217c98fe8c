// The files that a record's run read: where they lie now, and whether they are still the same.
#pragma once

#include <string>
#include <vector>

#include "framework/config/value.hpp"
#include "framework/record/published/open_record.hpp"
#include "framework/train/spec.hpp"

namespace softalign::app {

// For a clone or a copied folder of results: puts into `spec`, the record's, the new place of each
// file that does not lie, as the run read it, where it says: below a folder that the record lies in, under
// the end of its old path, if it holds the bytes that the run read. What is not found stays as it
// is.
void find_moved_data(const Record& record, Value& spec);

// Options that name data files ("task.test.source"): those whose bytes are not what the record's run read, and
// those whose files are not there.
struct DataChanges {
  std::vector<std::string> changed, missing;
};
DataChanges data_changes(const Record& record, const Spec& spec);

// What a missing file asks for.
std::string restore_advice(const Record& record, const std::vector<std::string>& missing);

// Those that changed. Throws DataError where files are missing.
std::vector<std::string> changed_data(const Record& record, const Spec& spec);

// The options of the task in which two runs differ.
std::vector<std::string> task_differences(const Record& a, const Record& b);

}  // namespace softalign::app
