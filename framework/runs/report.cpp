#include "framework/runs/report.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/runs/run_list.hpp"

namespace softalign {
namespace {

void place_by_list(Report& report) {
  const RunList& list = *report.list;
  std::map<fs::path, const ListedRun*> rows;
  for (const ListedRun& row : list.rows) rows[normal_path(list.run(row).root)] = &row;
  std::erase_if(report.runs, [&](const Run& run) {
    if (rows.contains(run.path)) return false;
    report.problems.push_back({run.path.string(), "left out: not a row of the plan"});
    return true;
  });
  // A study that was run with several sets of overrides has several base specs for one variant.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> bases;
  for (const ListedRun& row : list.rows) {
    std::vector<std::string>& known = bases[{row.part, row.variant}];
    if (std::ranges::find(known, row.base) == known.end()) known.push_back(row.base);
  }
  for (Run& run : report.runs) {
    const ListedRun* row = rows.at(run.path);
    run.panel = row->part;
    run.series = row->part.empty() ? configuration_text(list, *row) : row->variant;
    const std::vector<std::string>& known = bases.at({row->part, row->variant});
    if (const auto at = std::ranges::find(known, row->base) - known.begin(); at > 0)
      run.series += fmt::format(" ({})", at + 1);
    if (!run.series.empty() && run.series.back() == ' ') run.series.pop_back();
  }
  std::ranges::stable_sort(report.runs, {}, [&](const Run& run) { return rows.at(run.path)->k; });
}

// Reads the states of a sweep without run folders, such as a copy, from its table.
void read_table(const RunList& list, ListStatus& status) {
  const fs::path file = list.place().table();
  const auto has_folder = [&](const ListedRun& row) { return is_there(list.run(row).root); };
  if (!is_there(file) || std::ranges::any_of(list.rows, has_folder)) return;
  const Hdf5Reader table(file);
  const auto texts = [&](const char* name) {
    return std::get<std::vector<std::string>>(table.read(name));
  };
  const std::string metric = table.exists("value") ? "value" : "dev_" + list.metric.name.substr(4);
  const std::vector<std::string> ids = texts("run_id"), states = texts("state");
  std::vector<double> values(ids.size(), kUndefined);
  if (table.exists(metric)) values = std::get<std::vector<double>>(table.read(metric));
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const auto at = usize(std::ranges::find(ids, list.rows[i].run_id) - ids.begin());
    if (at >= std::min(states.size(), values.size())) continue;
    if (status.rows[i].state != RunState::planned) continue;
    status.rows[i].state = run_state(states[at]).value_or(RunState::planned);
    status.rows[i].metric = values[at];
  }
  rank(list, status);
}

void find_list(Report& report, const fs::path& folder) {
  if (!is_there(ListFolder{folder}.plan())) return;
  try {
    report.list = read_list(folder);
    report.status = list_status(*report.list);
    read_table(*report.list, *report.status);
    report.kind = report.list->parameters.empty() ? "study" : "sweep";
    report.name = report.list->name;
  } catch (const Error& error) {
    report.problems.push_back({ListFolder{folder}.plan().string(), error.what()});
  } catch (const std::bad_variant_access&) {
    report.problems.push_back({folder.string(), "its sweep.h5 was not written by softalign"});
  }
}

void find_study(Report& report, const fs::path& folder) {
  const fs::path file = ListFolder{folder}.study();
  try {
    if (is_there(file)) report.study = read_file(file);
    if (report.study.empty() || !read_json<nlohmann::json>(report.study).is_discarded()) return;
    report.study.clear();
    report.problems.push_back(
        {file.string(), "cannot be read as JSON; the runs are shown without it"});
  } catch (const Error& error) {
    report.problems.push_back({file.string(), error.what()});
  }
}

// Adds the sweeps and studies at or below a folder, by path. Does not search inside them or inside runs, behind links,
// deeper than runs can be, or in unreadable folders.
void find_parts(const fs::path& folder, int depth, std::vector<fs::path>& found) {
  constexpr int kDeepest = 6;
  std::vector<std::string> names;
  try {
    if (!is_folder(folder) || is_run_folder(folder)) return;
    const ListFolder list{folder};
    if (is_there(list.plan()) || is_there(list.study())) return found.push_back(folder);
    names = names_in(folder);
  } catch (const Error&) {
    return;
  }
  std::ranges::sort(names);
  for (const std::string& name : names)
    if (depth < kDeepest && !name.starts_with('.') && !fs::is_symlink(folder / name))
      find_parts(folder / name, depth + 1, found);
}

std::vector<fs::path> part_folders(const std::vector<std::string>& places) {
  std::vector<fs::path> found;
  for (const std::string& place : places) find_parts(place, 0, found);
  if (places.size() == 1 && found == std::vector<fs::path>{places.front()}) found.clear();
  return found;
}

Report part_of(const fs::path& folder) {
  Report part;
  part.place = folder.string();
  part.kind = "study";
  find_list(part, folder);
  find_study(part, folder);
  return part;
}

}  // namespace

Report make_report(const std::vector<std::string>& places,
                   const std::string& results,
                   const BootstrapOptions& draws) {
  Report report;
  report.runs = named_runs(places, results);
  mark_twins(report.runs);
  report.kind = report.runs.size() == 1 ? "run" : "runs";
  if (places.size() == 1 && fs::is_directory(places.front())) {
    find_list(report, places.front());
    find_study(report, places.front());
  }
  for (const fs::path& folder : part_folders(places)) {
    Report& part = report.parts.emplace_back(part_of(folder));
    report.problems.insert(report.problems.end(), part.problems.begin(), part.problems.end());
  }
  if (report.list)
    place_by_list(report);
  else
    place_by_test_set(report.runs);
  const bool ordered = !report.study.empty(), planned = report.list.has_value();
  if (!ordered) report.ranked_by = planned ? report.list->metric.name : watched_metric(report.runs);
  report.series =
      ordered ? series_of(report.runs) : ranked_series(report.runs, report.ranked_by, planned);
  report.detailed = detailed_series(report.runs, report.series);
  std::vector<std::string> panels;
  for (const Run& run : report.runs)
    if (!run.configuration.empty() && !run.twin && std::ranges::count(panels, run.panel) == 0)
      panels.push_back(run.panel);
  for (const std::string& panel : panels)
    report.panels.push_back(panel_of(
        panel, report.runs, report.series, report.detailed, ordered, draws, report.problems));
  return report;
}

}  // namespace softalign
