#include "framework/runs/list_status.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "framework/analysis/run_index.hpp"
#include "framework/analysis/sweep_index.hpp"
#include "framework/base/path.hpp"
#include "framework/config/scalar.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/runs/slurm_queue.hpp"

namespace softalign {
namespace {

bool is_number(const Value& value) {
  try {
    to_number(value);
    return true;
  } catch (const ScalarFault&) {
    return false;
  }
}

std::vector<SweepTable::Parameter> parameters_of(const ListedRun& row) {
  std::vector<SweepTable::Parameter> parameters;
  if (!row.part.empty()) parameters = {{"part", row.part, false}, {"variant", row.variant, false}};
  for (const Override& s : row.set)
    parameters.push_back(
        {s.path, s.value.is_scalar() ? s.value.text : s.value.flow(), is_number(s.value)});
  return parameters;
}

// What a summary does not look at where the record is whole, and who goes on with the run needs.
std::string folder_fault(const RunFolder& run) {
  const std::vector<Index> journals = run.journals();
  if (journals.empty()) return "";
  for (const fs::path& needed : {run.spec(), run.identity()})
    if (!fs::exists(needed)) return fmt::format("{}: is missing", needed.string());
  const fs::path newest = run.journal(journals.back());
  return begins_as_journal(newest) ? "" : fmt::format("{}: no journal", newest.string());
}

std::vector<RankedConfiguration> ranking_of(const RunList& list, const ListStatus& status) {
  std::vector<RankedConfiguration> ranking;
  for (const std::vector<std::size_t>& rows : configurations(list)) {
    RankedConfiguration one;
    std::vector<double> complete, others;
    for (const std::size_t i : rows) {
      one.rows.push_back(static_cast<Index>(i));
      if (!std::isfinite(status.metric[i])) continue;
      const bool is_complete = status.rows[i].state == RunState::complete;
      (is_complete ? complete : others).push_back(status.metric[i]);
      if (is_complete) one.complete.push_back(static_cast<Index>(i));
    }
    one.metric = over_seeds(complete.empty() ? others : complete);
    if (one.metric.count > 0) ranking.push_back(std::move(one));
  }
  const double sign = list.options.metric.goal == "maximize" ? -1 : 1;
  std::ranges::stable_sort(ranking, {}, [&](const RankedConfiguration& one) {
    return std::pair(-std::ssize(one.complete), sign * one.metric.mean);
  });
  return ranking;
}

}  // namespace

ListStatus list_status(const RunList& list) {
  std::map<fs::path, RunSummary> summaries;  // by folder
  RunIndex index = fs::exists(list.folder) ? index_runs(list.folder) : RunIndex{};
  for (RunSummary& summary : index.runs) {
    const fs::path folder = summary.run.root;
    summaries.emplace(folder, std::move(summary));
  }
  ListStatus status;
  SlurmWitness witness;
  for (const ListedRun& row : list.rows) {
    const auto found = summaries.find(list.run(row).root);
    const bool begun = found != summaries.end();
    // Another host's process cannot be seen from here, but Slurm may know that it is gone.
    if (begun && is_worked_on(found->second.status.state))
      found->second.status = run_status(list.run(row), std::ref(witness));
    status.rows.push_back(row_status(list, row, begun ? found->second.status : RunStatus{}));
    status.metric.push_back(std::numeric_limits<double>::quiet_NaN());
    status.summaries.emplace_back();
    if (!begun) continue;
    std::string fault = found->second.fault;
    if (fault.empty() && found->second.run_id != row.run_id)
      fault = fmt::format("{}: holds another run, {}",
                          list.run(row).root.string(),
                          printable(found->second.run_id));
    if (fault.empty()) fault = folder_fault(list.run(row));
    if (!fault.empty() && !is_worked_on(status.rows.back().state)) {
      status.rows.back().state = RunState::corrupt;
      status.rows.back().fault = std::move(fault);
    }
    if (const RunState state = status.rows.back().state; state != RunState::corrupt)
      status.metric.back() = is_over(state)
                                 ? selected_value(found->second, list.options.metric.name.substr(4))
                                 : metric_of(list, status.rows.back());
    status.summaries.back() = std::move(found->second);
  }
  rank(list, status);
  return status;
}

void rank(const RunList& list, ListStatus& status) { status.ranking = ranking_of(list, status); }

std::string write_sweep_table(const RunList& list, const ListStatus& status) {
  SweepTable table{list.name, list.options.metric.name, list.options.metric.goal, {}};
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    const ListedRun& row = list.rows[i];
    table.rows.push_back({row.k,
                          row.run_id,
                          row.below,
                          std::string(to_string(status.rows[i].state)),
                          row.seed,
                          parameters_of(row),
                          status.summaries[i]});
  }
  try {
    write_sweep_index(list.place().table(), table);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace softalign
