// The curves and findings of diagnostics in a panel of a report: means over seeds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/analysis/panel.hpp"
#include "framework/analysis/record_facts.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"

namespace softalign {

// A run of the report, with data of its record if that can be read.
struct Reported {
  const Run* run;
  JsonObject facts;
  NamedSeries series;
  std::map<std::string, Finding> findings;
};

// Returns {"curves", "clocks", "diagnostics"} of the runs of a panel. order: of the series; metrics: their facts, by
// name; smooth: values per point of "train". A long "train" curve that is not smoothed also has a "trend".
JsonObject curves_json(const std::string& panel,
                       const std::vector<std::string>& order,
                       const std::vector<Reported>& runs,
                       const JsonObject& metrics,
                       Index smooth);

// Numbers along an axis (updates, distances), over runs that differ only in the seed.

inline constexpr std::size_t kDrawnPoints = 300;  // at most, of a curve
inline constexpr Index kTrendPoints = 50;         // approximately, of a trend

struct Points {
  std::vector<double> at, values;  // NaN: no value
};

// The mean of several curves, with a point at each position where a run has a value.
struct MeanCurve {
  std::vector<double> at, mean;
  std::vector<double> deviation;  // sample standard deviation; NaN for one value
  std::vector<double> least, most;
  std::vector<Index> seeds;  // number of runs with a value at this position
};

// Returns at most kDrawnPoints points, evenly spaced, including the first and the last. Values whose squares overflow a
// double are ignored; they come from a diverged model.
MeanCurve mean_curve(const std::vector<Points>& runs);

// Returns the mean of each `count` successive values, at the last of their positions, without an incomplete last group.
Points smoothed(const Points& points, Index count);

}  // namespace softalign
