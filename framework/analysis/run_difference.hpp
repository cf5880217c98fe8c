// The differences between two runs: their specs and data, their environments, and each number of their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/published/open_record.hpp"

namespace softalign {

// Returns the distance of two numbers in units in the last place: 0 for the same bits, for 0 and -0, and
// for two NaNs; the largest integer if only one is NaN.
std::uint64_t ulps_between(double a, double b);
std::uint64_t ulps_between(float a, float b);

// A named text in two runs; nullopt for a run without it.
struct TextDifference {
  std::string name;
  std::optional<std::string> a, b;
};

// A metric of a series, at the updates that both runs have.
struct SeriesDifference {
  std::string name;     // "train/loss"
  Index compared = 0;   // number of compared updates; those of only one run are not compared
  Index different = 0;  // number of updates whose values differ
  Index first = 0;      // the first such update, with its values
  double a = 0, b = 0;
  std::uint64_t ulps = 0;  // between a and b, as 64-bit numbers
};

struct MetricDifference {
  std::string name;
  std::optional<double> a, b;
};

// A part of the records compared bit for bit, as `verify` does: "parameters", "alignments/cross".
struct PartDifference {
  std::string name;
  bool in_a = false, in_b = false;
  Index different = 0;  // datasets and attributes that differ or that only one record has
};

struct ParameterDifference {
  Index common = 0;        // parameters with the same name and shape in both runs
  Index different = 0;     // common parameters whose values differ
  Index others = 0;        // parameters that one run lacks, or whose shapes differ
  std::string largest;     // parameter with the largest difference; empty if there is none
  std::uint64_t ulps = 0;  // the largest difference, of 32-bit numbers
};

struct RunDifference {
  std::vector<TextDifference> spec;         // options that are part of the identity, by path
  std::vector<TextDifference> data;         // options that name files: "sha256:..."
  std::vector<TextDifference> environment;  // machine, program, libraries; no times and no paths
  std::vector<SeriesDifference> series;     // all common metrics, even if no value differs
  std::vector<MetricDifference> test;       // all metrics
  Index hypotheses = 0;                     // number compared, if the test sets are the same
  Index other_hypotheses = 0;               // number that differ
  bool same_test_set = false;
  std::vector<PartDifference> parts;
  ParameterDifference parameters;
  bool same_bits() const;  // in every part
};

RunDifference difference_of_runs(const Record& a, const Record& b);
JsonObject difference_json(const RunDifference& difference);

}  // namespace softalign
