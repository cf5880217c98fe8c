#include "framework/runs/list_status.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "framework/analysis/run_index.hpp"
#include "framework/analysis/sweep_index.hpp"
#include "framework/base/path.hpp"
#include "framework/base/types.hpp"
#include "framework/config/scalar.hpp"
#include "framework/record/folder/runs_below.hpp"
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
std::string folder_fault(const RunFolder& run, const RunSummary& summary, const ListedRun& row) {
  if (summary.run_id != row.run_id)
    return fmt::format("{}: holds another run, {}", run.root.string(), printable(summary.run_id));
  const std::vector<Index> journals = run.journals();
  if (journals.empty()) return "";
  for (const fs::path& needed : {run.spec(), run.identity()})
    if (!is_there(needed)) return fmt::format("{}: is missing", needed.string());
  const fs::path newest = run.journal(journals.back());
  return begins_as_journal(newest) ? "" : fmt::format("{}: no journal", newest.string());
}

// `summary`: null where the row has no folder.
RowStatus look_at(const RunFolder& run,
                  const ListedRun& row,
                  RunSummary* summary,
                  const ProofOfDeath& proof) {
  if (!summary) return {};
  // Another host's process cannot be seen from here, but Slurm may know that it is gone.
  if (is_worked_on(summary->status.state)) summary->status = run_status(run, proof);
  RowStatus status{summary->status, summary->fault};
  if (is_worked_on(status.state)) {
    status.fault.clear();  // it may be half written
    return status;
  }
  if (!status.fault.empty()) {
    status.state = summary->fault_state;
  } else if (status.fault = folder_fault(run, *summary, row); !status.fault.empty()) {
    status.state = RunState::corrupt;
  }
  return status;
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
  const double sign = list.metric.goal == "maximize" ? -1 : 1;
  std::ranges::stable_sort(ranking, {}, [&](const RankedConfiguration& one) {
    return std::pair(-std::ssize(one.complete), sign * one.metric.mean);
  });
  return ranking;
}

}  // namespace

ListStatus list_status(const RunList& list) {
  std::map<fs::path, RunSummary> summaries;  // by folder
  RunIndex index = is_there(list.folder) ? index_runs(list.folder) : RunIndex{};
  for (RunSummary& summary : index.runs) {
    const fs::path folder = summary.run.root;
    summaries.emplace(folder, std::move(summary));
  }
  ListStatus status;
  SlurmWitness witness;
  for (const ListedRun& row : list.rows) {
    const RunFolder run = list.run(row);
    const auto found = summaries.find(run.root);
    RunSummary* summary = found == summaries.end() ? nullptr : &found->second;
    status.rows.push_back(row_status(list, row, [&] {
      if (!summary && is_run_folder(run.root))  // a folder above it could not be looked into
        summary = &summaries.emplace(run.root, summarize_run(run)).first->second;
      return look_at(run, row, summary, std::ref(witness));
    }));
    status.metric.push_back(kUndefined);
    status.summaries.emplace_back();
    if (!summary) continue;
    const RunState state = status.rows.back().state;
    if (is_over(state))
      status.metric.back() = selected_value(*summary, list.metric.name.substr(4));
    else if (state != RunState::corrupt)
      status.metric.back() = metric_of(list, status.rows.back());
    status.summaries.back() = std::move(*summary);
  }
  rank(list, status);
  return status;
}

void rank(const RunList& list, ListStatus& status) { status.ranking = ranking_of(list, status); }

std::string write_sweep_table(const RunList& list, const ListStatus& status) {
  SweepTable table{list.name, list.metric.name, list.metric.goal, {}};
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
