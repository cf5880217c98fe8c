// The curves of a report's panel, and what diagnostics found: means over seeds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/analysis/record_facts.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"

namespace softalign {

// A run of the report, and its record where that can be read.
struct Reported {
  const Run* run;
  JsonObject facts;
  NamedSeries series;
  std::map<std::string, Finding> findings;
};

// {"curves", "clocks", "diagnostics"} of the runs of a panel. order: of the series; metrics: their facts, by name;
// smooth: updates that are one point of "train". A long curve of updates that is not smoothed has its "trend" beside it.
JsonObject curves_json(const std::string& panel,
                       const std::vector<std::string>& order,
                       const std::vector<Reported>& runs,
                       const JsonObject& metrics,
                       Index smooth);

// Numbers along an axis (updates, distances), over runs that differ in nothing but the seed.

inline constexpr std::size_t kDrawnPoints = 300;  // of a curve
inline constexpr Index kTrendPoints = 50;         // of a trend, about

struct Points {
  std::vector<double> at, values;  // NaN: none
};

// The mean of several curves, with a point wherever any of the runs has a value.
struct MeanCurve {
  std::vector<double> at, mean;
  std::vector<double> deviation;  // of the sample; NaN of one value
  std::vector<double> least, most;
  std::vector<Index> seeds;  // runs that have a value there
};

// At most kDrawnPoints points, evenly spaced, the first and the last among them. Numbers of a model that
// diverged, whose squares no double holds, are not values.
MeanCurve mean_curve(const std::vector<Points>& runs);

// The mean of each `count` successive values, at the last of their positions; a rest at the end is not a point.
Points smoothed(const Points& points, Index count);

}  // namespace softalign
