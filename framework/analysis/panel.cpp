#include "framework/analysis/panel.hpp"

#include <algorithm>

#include "framework/analysis/against_baseline.hpp"
#include "framework/base/error.hpp"

namespace softalign {
namespace {

// Fills the runs and the series. Returns the place of each run's series.
std::vector<Index> finish(Panel& panel,
                          const std::vector<Run>& runs,
                          const std::vector<std::string>& series,
                          bool tested,
                          std::vector<LeftOut>& left_out) {
  std::vector<Index> places;
  for (const std::string& one : series)
    for (const Run& run : runs) {
      if (run.panel != panel.name || run.series != one || run.twin || !run.complete ||
          !run.fault.empty())
        continue;
      try {
        Run made = run;
        demand_complete(made);
        if (tested && panel.series.size() <= kTestedUnasked)
          read_sentences(made);
        else
          read_lengths(made);
        if (std::ranges::count(panel.series, one) == 0) panel.series.push_back(one);
        places.push_back(std::ssize(panel.series));
        panel.runs.push_back(std::move(made));
      } catch (const Error& error) {
        left_out.push_back({run.path.string(), error.what()});
      }
    }
  return places;
}

}  // namespace

Panel panel_of(const std::string& name,
               const std::vector<Run>& runs,
               const std::vector<std::string>& series,
               bool ordered,
               const PairedTestOptions& draws,
               std::vector<LeftOut>& left_out) {
  Panel panel;
  panel.name = name;
  const std::vector<Index> places = finish(panel, runs, series, draws.resamples > 0, left_out);
  if (panel.runs.empty()) return panel;
  // Chosen before the runs are put in the order of their series, which may be that of their scores.
  const Comparison asked = compare(panel.runs, {});
  const std::string baseline = asked.groups[asked.baseline].runs.front()->configuration;
  for (std::size_t i = 0; i < panel.runs.size(); ++i) panel.runs[i].argument = places[i];
  try {
    Comparison comparison = compare(panel.runs, main_metrics(panel.runs));
    const auto is_baseline = [&](const ComparedGroup& group) {
      return group.runs.front()->configuration == baseline;
    };
    if (!ordered)
      comparison.baseline =
          usize(std::ranges::find_if(comparison.groups, is_baseline) - comparison.groups.begin());
    if (draws.resamples > 0 && comparison.groups.size() > 1 &&
        comparison.groups.size() <= kTestedUnasked)
      comparison.against = against_baseline(comparison, draws);
    panel.tables = length_tables(comparison.groups, draws);
    panel.comparison = std::move(comparison);
  } catch (const SpecError& error) {  // two signatures
    left_out.push_back({name, error.what()});
  }
  return panel;
}

}  // namespace softalign
