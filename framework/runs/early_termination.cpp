#include "framework/runs/early_termination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/files.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/runs/list_status.hpp"

namespace softalign {
namespace {

fs::path history_file(const fs::path& run_folder) { return run_folder / "early_termination.json"; }

// Returns whether a is better than b; NaN, a diverged run, is worse than any number.
bool better(double a, double b, bool maximize) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return maximize ? a > b : a < b;
}

// Returns the value at the first evaluation at or after `update`.
std::optional<double> value_from(const DevHistory& history, Index update) {
  for (const DevValue& v : history.values)
    if (v.update >= update) return v.value;
  return std::nullopt;
}

// Returns the value at the last evaluation up to `update`; nothing if the run has not reached it.
std::optional<double> value_up_to(const DevHistory& history, Index update) {
  if (history.values.empty() || history.values.back().update < update) return std::nullopt;
  std::optional<double> found;
  for (const DevValue& v : history.values)
    if (v.update <= update) found = v.value;
  return found;
}

// Returns the values of the other runs by `value_at`, best first, and adds them with their run IDs to the decision.
std::vector<double> compare_with(
    const OtherRuns& others,
    const std::string& run_id,
    bool maximize,
    const std::function<std::optional<double>(const DevHistory&)>& value_at,
    PruneDecision& decision) {
  std::vector<double> values;
  for (const auto& [id, history] : others)
    if (const auto value = id == run_id ? std::nullopt : value_at(history)) {
      decision.compared.emplace_back(id, *value);
      values.push_back(*value);
    }
  std::sort(
      values.begin(), values.end(), [&](double a, double b) { return better(a, b, maximize); });
  return values;
}

PruneDecision asha_rung(Index rung,
                        Index at,
                        const EarlyTerminateOptions& rule,
                        bool maximize,
                        const std::string& run_id,
                        const DevHistory& own,
                        const OtherRuns& others) {
  PruneDecision decision;
  decision.update = own.values.back().update;
  decision.rule = fmt::format("asha rung {} ({} updates)", rung, at);
  decision.value = own.values.back().value;
  std::vector<double> values = compare_with(
      others, run_id, maximize, [&](const DevHistory& h) { return value_from(h, at); }, decision);
  const auto better_than_own = [&](double other) {
    return better(other, decision.value, maximize);
  };
  values.insert(std::partition_point(values.begin(), values.end(), better_than_own),
                decision.value);
  const auto kept = std::max<std::size_t>(1, values.size() / usize(rule.eta));
  decision.cut = values[kept - 1];
  decision.stop = better(decision.cut, decision.value, maximize);
  return decision;
}

// Returns a decision for each rung that the last value is the first to reach.
std::vector<PruneDecision> asha(const EarlyTerminateOptions& rule,
                                bool maximize,
                                const std::string& run_id,
                                const DevHistory& own,
                                const OtherRuns& others) {
  std::vector<PruneDecision> decisions;
  const Index before = own.values.size() < 2 ? 0 : own.values[own.values.size() - 2].update;
  Index at = rule.min_updates;
  for (Index rung = 0; at <= own.values.back().update; ++rung) {
    if (at > before) decisions.push_back(asha_rung(rung, at, rule, maximize, run_id, own, others));
    if (!decisions.empty() && decisions.back().stop) break;
    if (at > std::numeric_limits<Index>::max() / rule.eta) break;
    at *= rule.eta;
  }
  return decisions;
}

std::vector<PruneDecision> median(const EarlyTerminateOptions& rule,
                                  bool maximize,
                                  const std::string& run_id,
                                  const DevHistory& own,
                                  const OtherRuns& others) {
  PruneDecision decision;
  decision.update = own.values.back().update;
  if (decision.update < rule.min_updates) return {};
  decision.rule = "median";
  decision.value = own.values.front().value;
  for (const DevValue& v : own.values)
    if (better(v.value, decision.value, maximize)) decision.value = v.value;
  const std::vector<double> values = compare_with(
      others,
      run_id,
      maximize,
      [&](const DevHistory& h) { return value_up_to(h, decision.update); },
      decision);
  decision.cut = kUndefined;
  if (std::ssize(values) < rule.startup) return {decision};
  const std::size_t half = values.size() / 2;
  decision.cut = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  decision.stop = better(decision.cut, decision.value, maximize);
  return {decision};
}

// Returns a run's history; empty if its values are of another metric than the plan's, which may have changed.
DevHistory history_of(const RunList& list, const fs::path& run_folder) {
  DevHistory history = read_dev_history(run_folder);
  if (history.metric != list.metric.name) history = {};
  history.metric = list.metric.name;
  return history;
}

OtherRuns histories_of(const RunList& list) {
  OtherRuns all;
  for (const ListedRun& row : list.rows)
    all.emplace_back(row.run_id, history_of(list, list.run(row).root));
  return all;
}

bool promotes(const RunList& list) {
  return list.early_terminate.type == "asha" && list.method != SweepMethod::optuna;
}

// Returns the decisions by which a run that was stopped at its last value now continues; empty if it remains stopped.
std::vector<PruneDecision> promotion(const RunList& list,
                                     const std::string& run_id,
                                     const DevHistory& own,
                                     const OtherRuns& all) {
  if (own.decisions.empty() || !own.decisions.back().stop || own.values.empty() ||
      own.decisions.back().update != own.values.back().update)
    return {};
  std::vector<PruneDecision> now =
      decide(list.early_terminate, list.metric.goal == "maximize", run_id, own, all);
  if (std::ranges::any_of(now, &PruneDecision::stop)) now.clear();
  return now;
}

std::string reason_of(const PruneDecision& d, const std::string& metric) {
  if (std::isnan(d.cut)) return fmt::format("{}: {} is {:.6g}", d.rule, metric, d.value);
  return fmt::format("{}: {} is {:.6g}, {:.6g} was needed among {} runs",
                     d.rule,
                     metric,
                     d.value,
                     d.cut,
                     d.compared.size() + 1);
}

class ListPruner final : public Pruner {
 public:
  ListPruner(const RunList& list, const ListedRun& row, fs::path folder, AskOutside ask)
      : list_(list), row_(row), folder_(std::move(folder)), ask_(std::move(ask)) {
    own_ = history_of(list, folder_);
    if (!promotes(list_)) return;
    const std::vector<PruneDecision> now = promotion(list_, row_.run_id, own_, histories_of(list_));
    if (now.empty()) return;
    std::erase_if(own_.decisions,
                  [&](const PruneDecision& d) { return d.update == own_.values.back().update; });
    own_.decisions.insert(own_.decisions.end(), now.begin(), now.end());
    FileSystem::real().write_atomically(history_file(folder_), stored_text(own_));
  }

  std::optional<std::string> stop(Index update, const MetricTable& dev) override {
    if (const auto stopped = stopped_before(update)) return stopped;
    // A run that resumes from a checkpoint repeats evaluations; their decisions are not made again.
    if (!own_.values.empty() && own_.values.back().update >= update) return std::nullopt;
    const double value = dev.at("all", list_.metric.name.substr(4));
    own_.values.push_back({update, value});
    for (PruneDecision& decision : decisions_now(update, value))
      own_.decisions.push_back(std::move(decision));
    FileSystem::real().write_atomically(history_file(folder_), stored_text(own_));
    return stopped_before(update);
  }

  std::optional<std::string> stopped_before(Index update) const override {
    for (const PruneDecision& d : own_.decisions)
      if (d.stop && d.update <= update) return reason_of(d, list_.metric.name);
    return std::nullopt;
  }

  std::string decisions() const override { return stored_text(own_); }

 private:
  std::vector<PruneDecision> decisions_now(Index update, double value) {
    if (ask_) return {{update, "optuna", value, kUndefined, {}, !ask_(update, value)}};
    return decide(list_.early_terminate,
                  list_.metric.goal == "maximize",
                  row_.run_id,
                  own_,
                  histories_of(list_));
  }

  const RunList& list_;
  const ListedRun& row_;
  fs::path folder_;
  AskOutside ask_;
  DevHistory own_;
};

}  // namespace

DevHistory read_dev_history(const fs::path& run_folder) {
  try {
    if (is_there(history_file(run_folder)))
      return from_stored_text<DevHistory>(read_file(history_file(run_folder)));
  } catch (const DataError&) {
  }
  return {};
}

std::string stop_reason(const DevHistory& history) {
  if (history.decisions.empty() || !history.decisions.back().stop) return "";
  return reason_of(history.decisions.back(), history.metric);
}

void release(const fs::path& run_folder) {
  if (!is_there(history_file(run_folder))) return;
  DevHistory history = read_dev_history(run_folder);
  history.released = true;
  FileSystem::real().write_atomically(history_file(run_folder), stored_text(history));
}

std::vector<PruneDecision> decide(const EarlyTerminateOptions& rule,
                                  bool maximize,
                                  const std::string& run_id,
                                  const DevHistory& own,
                                  const OtherRuns& others) {
  if (own.values.empty()) return {};
  if (rule.type == "asha") return asha(rule, maximize, run_id, own, others);
  if (rule.type == "median") return median(rule, maximize, run_id, own, others);
  return {};
}

std::vector<Index> promoted_rows(const RunList& list) {
  std::vector<Index> rows;
  if (!promotes(list)) return rows;
  const OtherRuns all = histories_of(list);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!promotion(list, all[i].first, all[i].second, all).empty() &&
        row_status(list, list.rows[i]).state == RunState::pruned)  // not completed since
      rows.push_back(list.rows[i].k);
  return rows;
}

std::function<std::unique_ptr<Pruner>(const fs::path&)> make_pruner(const RunList& list,
                                                                    const ListedRun& row,
                                                                    AskOutside ask) {
  if (list.early_terminate.type == "none" && !ask) return {};
  if (read_dev_history(list.run(row).root).released) return {};
  return [&list, &row, ask = std::move(ask)](const fs::path& folder) {
    return std::make_unique<ListPruner>(list, row, folder, ask);
  };
}

}  // namespace softalign
