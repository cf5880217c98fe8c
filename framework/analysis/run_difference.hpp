// The differences between two runs: what they were made from, where, and number by number their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/record/published/open_record.hpp"

namespace softalign {

// Steps from one number to the next that lie between two of them: 0 for the same bits, and for 0
// and -0; the largest there is when one is NaN and the other not.
std::uint64_t ulps_between(double a, double b);
std::uint64_t ulps_between(float a, float b);

// A named text in both runs; nullopt where a run has none.
struct TextDifference {
  std::string name;
  std::optional<std::string> a, b;
};

// A metric of a series, at the updates that both have.
struct SeriesDifference {
  std::string name;     // "train/loss"
  Index compared = 0;   // updates; what only one run has is not compared
  Index different = 0;  // of them
  Index first = 0;      // the first that is different, with its values
  double a = 0, b = 0;
  std::uint64_t ulps = 0;  // between them, of 64-bit numbers
};

struct MetricDifference {
  std::string name;
  std::optional<double> a, b;
};

// A part of the records compared bit for bit, as `verify` does: "parameters", "alignments/cross".
struct PartDifference {
  std::string name;
  bool in_a = false, in_b = false;
  Index different = 0;  // datasets and attributes that differ or that only one has
};

struct ParameterDifference {
  Index common = 0;        // parameters of one name and shape
  Index different = 0;     // of them
  Index others = 0;        // names in one run only, or of other shapes
  std::string largest;     // place of the largest difference, empty if there is none
  std::uint64_t ulps = 0;  // there, of 32-bit numbers
};

struct RunDifference {
  std::vector<TextDifference> spec;         // options that are part of the identity, by path
  std::vector<TextDifference> data;         // options that name files: "sha256:..."
  std::vector<TextDifference> environment;  // machine, program, libraries; no times and no paths
  std::vector<SeriesDifference> series;     // all that both have; different may be 0
  std::vector<MetricDifference> test;       // all
  Index hypotheses = 0;                     // of one test set, compared
  Index other_hypotheses = 0;               // of them
  bool same_test_set = false;
  std::vector<PartDifference> parts;
  ParameterDifference parameters;
  bool same_bits() const;  // in every part
};

RunDifference difference_of_runs(const Record& a, const Record& b);
JsonObject difference_json(const RunDifference& difference);

}  // namespace softalign
