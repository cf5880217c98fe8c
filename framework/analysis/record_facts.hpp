// Facts of one record that a report shows beside its metrics: as JSON, series, what diagnostics found. All
// functions throw DataError when what they read is damaged.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/record/published/arrays.hpp"

namespace softalign {

// An array of a diagnostic: single numbers by update, or numbers along another axis at the last update.
struct Finding {
  std::string title, units;
  std::string along;  // the axis: "update", "distance"
  std::string axis;   // in words
  Array1d at, values;
};

using NamedSeries = std::map<std::string, SeriesColumns>;  // "train", "dev"
NamedSeries all_series(const Record& record);
std::map<std::string, Finding> findings_of(
    const Record& record);  // "gradient_flow/dev/far_to_near"

JsonObject record_facts(const Record& record, const NamedSeries& series);
// [{"attempt", "started", "ended", "state", "last_update", "host"}]; the state of one that did not end in order is
// "running" or "stopped without a word".
JsonObject attempts_json(const Record& record);

// The findings of all diagnostics, or of the one that is named:
// {"cost": {"test": {"energies": {"axes": ["update"], "values": [..]}}}}.
JsonObject diagnostics_json(const Record& record, const std::string& name = "");

// The JSON of `show --json`: attributes, provenance, data, test metrics by length, diagnostics, the resolved
// spec.
JsonObject record_json(const Record& record);

// Oddities of a run's folder, though the record is whole: what is missing, or should not be there. None for a
// record that was copied away from its folder.
std::vector<std::string> oddities_of(const std::filesystem::path& record);

}  // namespace softalign
