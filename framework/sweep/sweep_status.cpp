#include "framework/sweep/sweep_status.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "framework/analysis/run_index.hpp"
#include "framework/analysis/sweep_index.hpp"
#include "framework/config/scalar.hpp"
#include "framework/record/journal.hpp"
#include "framework/sweep/slurm_queue.hpp"

namespace softalign {
namespace {

namespace fs = std::filesystem;

bool is_number(const Value& value) {
  try {
    to_number(value);
    return true;
  } catch (const ScalarFault&) {
    return false;
  }
}

std::vector<SweepTable::Parameter> parameters_of(const SweepRow& row) {
  std::vector<SweepTable::Parameter> parameters;
  for (const SweepSetting& s : row.set)
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

// The rows of each configuration, which set the same, in the order of the plan.
std::vector<std::vector<Index>> configurations(const SweepPlan& plan) {
  std::vector<std::vector<Index>> found;
  std::map<std::string, std::size_t> places;
  for (const SweepRow& row : plan.rows) {
    std::string key;
    for (const SweepSetting& s : row.set) key += s.path + "=" + s.value.flow() + "\n";
    const auto [place, first] = places.emplace(key, found.size());
    if (first) found.emplace_back();
    found[place->second].push_back(row.k);
  }
  return found;
}

void find_best(const SweepPlan& plan, SweepStatus& status) {
  const bool maximize = plan.metric.goal == "maximize";
  for (const std::vector<Index>& rows : configurations(plan)) {
    std::vector<Index> complete;
    std::vector<double> values;
    for (const Index k : rows) {
      const auto i = static_cast<std::size_t>(k);
      if (status.rows[i].state != RowState::complete || !std::isfinite(status.metric[i])) continue;
      complete.push_back(k);
      values.push_back(status.metric[i]);
    }
    if (complete.empty() || complete.size() < status.best.size()) continue;
    const Seeds found = over_seeds(values);
    const bool better =
        maximize ? found.mean > status.best_metric.mean : found.mean < status.best_metric.mean;
    if (complete.size() == status.best.size() && !better) continue;
    status.best = complete;
    status.best_metric = found;
  }
}

}  // namespace

SweepStatus sweep_status(const SweepPlan& plan) {
  std::map<std::string, RunSummary> summaries;  // by folder
  RunIndex index = fs::exists(plan.folder) ? index_runs(plan.folder) : RunIndex{};
  for (RunSummary& summary : index.runs) {
    std::string folder = summary.run.root.filename().string();
    if (summary.run.root.parent_path() == plan.folder)
      summaries.emplace(std::move(folder), std::move(summary));
  }
  SweepStatus status;
  SlurmWitness witness;
  for (const SweepRow& row : plan.rows) {
    const auto found = summaries.find(row.run_id);
    const bool begun = found != summaries.end();
    // Another host's process cannot be seen from here, but Slurm may know that it is gone.
    if (begun && is_worked_on(found->second.status.state))
      found->second.status = run_status(plan.run(row), std::ref(witness));
    status.rows.push_back(row_status(plan, row, begun ? found->second.status : RunStatus{}));
    status.metric.push_back(std::numeric_limits<double>::quiet_NaN());
    status.summaries.emplace_back();
    if (!begun) continue;
    std::string fault = found->second.fault;
    if (fault.empty() && found->second.run_id != row.run_id)
      fault = fmt::format("{}: holds another run, {}",
                          plan.run(row).root.string(),
                          printable(found->second.run_id));
    if (fault.empty()) fault = folder_fault(plan.run(row));
    if (!fault.empty() && !is_worked_on(status.rows.back().state)) {
      status.rows.back().state = RowState::corrupt;
      status.rows.back().fault = std::move(fault);
    }
    status.metric.back() = is_over(status.rows.back().state)
                               ? selected_value(found->second, plan.metric.name.substr(4))
                               : metric_of(plan, status.rows.back());
    status.summaries.back() = std::move(found->second);
  }
  find_best(plan, status);
  return status;
}

std::string write_sweep_table(const SweepPlan& plan, const SweepStatus& status) {
  SweepTable table{plan.name, plan.metric.name, plan.metric.goal, {}};
  for (std::size_t i = 0; i < plan.rows.size(); ++i) {
    const SweepRow& row = plan.rows[i];
    table.rows.push_back({row.k,
                          row.run_id,
                          row.run_id,
                          std::string(to_string(status.rows[i].state)),
                          row.seed,
                          parameters_of(row),
                          status.summaries[i]});
  }
  try {
    write_sweep_index(plan.place().table(), table);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace softalign
