// Runs of one test set beside each other, as a report shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "framework/analysis/comparison.hpp"
#include "framework/analysis/length_table.hpp"
#include "framework/analysis/series.hpp"
#include "framework/base/error.hpp"

namespace softalign {

// A run that is in no group, and why.
struct LeftOut {
  std::string place;
  std::string why;
  ExitCode code =
      ExitCode::done;  // else a group may lack it: data, it is damaged; failed, it cannot be read
};

// Groups that are tested unless somebody says otherwise.
inline constexpr std::size_t kTestedUnasked = 10;

struct Panel {
  std::string name;
  std::vector<std::string> series;       // of the groups
  std::vector<Run> runs;                 // by series; those with few series have their sentences
  std::optional<Comparison> comparison;  // in the main metrics; points at the runs
  std::vector<LengthTable> tables;
};

// series: the order of the groups. The baseline is the group that `compare` takes; ordered: that of
// the groups in this order. What is left out, and why, is added to left_out.
Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               bool ordered,
               const PairedTestOptions& draws,
               std::vector<LeftOut>& left_out);

}  // namespace softalign
