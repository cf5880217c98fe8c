// Facts of one record that a report shows next to its metrics: attributes as JSON, series, findings of diagnostics.
// All functions throw DataError if the data they read are damaged.
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
  std::string axis;   // long name of the axis
  Array1d at, values;
};

using NamedSeries = std::map<std::string, SeriesColumns>;  // "train", "dev"
NamedSeries all_series(const Record& record);
std::map<std::string, Finding> findings_of(
    const Record& record);  // "gradient_flow/dev/far_to_near"

JsonObject record_facts(const Record& record, const NamedSeries& series);
// Returns [{"attempt", "started", "ended", "state", "last_update", "host"}]; the state of an attempt without a clean
// exit is "running" or "stopped without a word".
JsonObject attempts_json(const Record& record);

// Returns the findings of all diagnostics, or of the named one:
// {"cost": {"test": {"energies": {"axes": ["update"], "values": [..]}}}}.
JsonObject diagnostics_json(const Record& record, const std::string& name = "");

// Returns the JSON of `show --json`: attributes, provenance, data, test metrics by length, diagnostics, the
// resolved spec.
JsonObject record_json(const Record& record);

// Returns problems of the run folder that do not affect the record: missing, unexpected or unreadable files. Returns
// nothing for a record that was copied out of its folder.
std::vector<std::string> oddities_of(const std::filesystem::path& record);

}  // namespace softalign
