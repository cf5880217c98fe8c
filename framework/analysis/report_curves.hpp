// The curves of a report's panel, and what diagnostics found: means over seeds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/analysis/record_facts.hpp"
#include "framework/analysis/series.hpp"
#include "framework/base/stored.hpp"

namespace softalign {

// A run of the report, and its record where that can be read.
struct Reported {
  const Run* run;
  JsonObject facts;
  NamedSeries series;
  std::map<std::string, Finding> findings;
};

// {"curves", "diagnostics"} of the runs of a panel. order: of the series; metrics: their facts, by name; smooth: updates that are one
// point of "train".
JsonObject curves_json(const std::string& panel,
                       const std::vector<std::string>& order,
                       const std::vector<Reported>& runs,
                       const JsonObject& metrics,
                       Index smooth);

}  // namespace softalign
