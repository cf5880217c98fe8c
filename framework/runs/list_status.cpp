#include "framework/runs/list_status.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "framework/analysis/run_index.hpp"
#include "framework/analysis/sweep_index.hpp"
#include "framework/base/files.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/types.hpp"
#include "framework/config/value.hpp"
#include "framework/config/writer.hpp"
#include "framework/data/task.hpp"
#include "framework/record/file.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/runs/submit.hpp"
#include "framework/seq/cost.hpp"
#include "framework/train/load_spec.hpp"
#include "framework/train/starting_point.hpp"

namespace softalign {

RowStatus row_status(const RunList& list, const ListedRun& row, const LivenessCheck& proof) {
  return row_status(list, row, [&] { return RowStatus{run_status(list.run(row), proof), {}}; });
}

RowStatus row_status(const RunList& list,
                     const ListedRun& row,
                     const std::function<RowStatus()>& look) {
  try {
    RowStatus status = look();
    for (const auto& [name, value] : status.metrics)
      if (name == list.metric.name) status.metric = value;
    const std::filesystem::path failure = list.place().failure(row.run_id);
    const bool trained = status.state == RunState::trained;
    if ((status.state == RunState::planned || status.state == RunState::failed ||
         status.state == RunState::pruned || trained) &&
        is_there(failure)) {
      if (!trained) status.state = RunState::failed;
      status.fault = std::string(trimmed(read_file(failure)));
    }
    return status;
  } catch (const std::bad_alloc&) {  // a fault of the machine, not of the row
    throw;
  } catch (const std::exception& error) {
    RowStatus status;
    status.state = RunState::unreadable;
    status.fault = message_of(error);
    return status;
  }
}

std::vector<std::string> state_texts(const RunList& list, const std::vector<RowStatus>& rows) {
  const fs::path results = whole_path(list.folder).parent_path();
  const bool prunes =
      list.early_terminate.type != "none";  // then other complete runs are not taken
  std::vector<RunFolder> runs;
  if (is_there(results)) runs = runs_below(results);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    texts.emplace_back(to_string(rows[i].state));
    if (rows[i].state != RunState::planned || prunes) continue;
    try {
      const auto others = complete_elsewhere(runs, list.run(list.rows[i]));
      if (!others.empty())
        texts.back() = "complete as " +
                       printable(others.front().root.lexically_relative(results).string(), kWhole);
    } catch (const MachineError& error) {  // it cannot be read
      texts.back() += fmt::format("; {}", in_one_line(error));
    }
  }
  return texts;
}

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

// Returns the fault of files that resuming needs, but that a summary does not read if the record is intact; or "".
std::string folder_fault(const RunFolder& folder, const Run& run, const ListedRun& row) {
  if (run.run_id != row.run_id)
    return fmt::format("{}: holds another run, {}", folder.root.string(), printable(run.run_id));
  const std::vector<Index> journals = folder.journals();
  if (journals.empty()) return "";
  for (const fs::path& needed : {folder.spec(), folder.identity()})
    if (!is_there(needed)) return fmt::format("{}: is missing", needed.string());
  const fs::path newest = folder.journal(journals.back());
  return begins_as_journal(newest) ? "" : fmt::format("{}: no journal", newest.string());
}

// Returns the status of a row. run: null if the row has no folder.
RowStatus look_at(const RunFolder& folder,
                  const ListedRun& row,
                  Run* run,
                  const LivenessCheck& proof) {
  if (!run) return {};
  // A process on another host is not visible here, but a scheduler may know that it has ended.
  if (is_worked_on(run->status.state)) {
    run->status = run_status(folder, proof);
    if (is_over(run->status.state)) *run = read_run(folder.root);  // it has ended since it was read
  }
  RowStatus status{run->status, run->fault};
  if (is_worked_on(status.state)) {
    status.fault.clear();  // the record may be half written
    return status;
  }
  if (!status.fault.empty()) {
    status.state = run->fault_state;
  } else if (status.fault = folder_fault(folder, *run, row); !status.fault.empty()) {
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
      if (!std::isfinite(status.rows[i].metric)) continue;
      const bool is_complete = status.rows[i].state == RunState::complete;
      (is_complete ? complete : others).push_back(status.rows[i].metric);
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
  std::map<fs::path, Run> runs;  // by folder
  RunIndex index = is_there(list.folder) ? index_runs(list.folder) : RunIndex{};
  for (Run& run : index.runs) {
    const fs::path folder = run.path;
    runs.emplace(folder, std::move(run));
  }
  ListStatus status;
  const LivenessCheck alive = liveness_of(list.folder);
  for (const ListedRun& row : list.rows) {
    const RunFolder folder = list.run(row);
    const auto found = runs.find(folder.root);
    Run* run = found == runs.end() ? nullptr : &found->second;
    status.rows.push_back(row_status(list, row, [&] {
      if (!run && is_run_folder(folder.root))  // a folder above it could not be listed
        run = &runs.emplace(folder.root, read_run(folder.root)).first->second;
      return look_at(folder, row, run, alive);
    }));
    status.runs.emplace_back();
    if (!run) continue;
    RowStatus& stands = status.rows.back();
    if (is_over(stands.state)) stands.metric = selected_value(*run, list.metric.name.substr(4));
    if (stands.state == RunState::corrupt) stands.metric = kUndefined;
    status.runs.back() = std::move(*run);
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
                          status.runs[i]});
  }
  try {
    write_sweep_index(list.place().table(), table);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

namespace {

// Returns numbers as numbers, everything else as text.
JsonObject json_of(const Value& value) {
  if (!value.is_scalar()) return value.flow();
  if (value.quoted) return value.text;
  const JsonObject read = read_json<JsonObject>(value.text);
  return read.is_number() ? read : JsonObject(value.text);
}

// Returns the facts of parameters that optuna and tables of rows need.
JsonObject parameters_json(const RunList& list) {
  JsonObject all = JsonObject::array();
  for (const SweepParameter& p : list.parameters) {
    JsonObject values = JsonObject::array();
    for (const Value& value : p.values) values.push_back(json_of(value));
    all.push_back({{"path", p.path},
                   {"name", list.varied.contains(p.path) ? list.varied.at(p.path) : p.path},
                   {"kind", to_string(p.kind)},
                   {"values", std::move(values)},
                   {"low", p.low},
                   {"high", p.high},
                   {"q", p.step},
                   {"scale", p.scale()},
                   {"varied", list.varied.contains(p.path)}});
  }
  return all;
}

}  // namespace

JsonObject list_json(const RunList& list,
                     const ListStatus* status,
                     const std::vector<JudgedClaim>& claims) {
  JsonObject rows = JsonObject::array();
  for (std::size_t i = 0; i < list.rows.size(); ++i) {
    JsonObject row = row_json(list, list.rows[i]);
    if (status) {
      const RowStatus& stands = status->rows[i];
      row["state"] = to_string(stands.state);
      row["updates"] = stands.last_update;
      row["metric"] = stands.metric;
      if (!stands.fault.empty()) row["fault"] = stands.fault;
    }
    rows.push_back(std::move(row));
  }
  JsonObject ranking = JsonObject::array();
  if (status)
    for (const RankedConfiguration& one : status->ranking)
      ranking.push_back({{"rows", one.rows},
                         {"complete", one.complete},
                         {"mean", one.metric.mean},
                         {"sd", one.metric.count > 1 ? one.metric.deviation : kUndefined}});
  return {{"name", list.name},
          {"folder", list.folder.string()},
          {"file", list.file.string()},
          {"method", to_string(list.method)},
          {"hash", list.hash},
          {"metric",
           {{"name", list.metric.name},
            {"goal", list.metric.goal},
            {"scale", in_percent(list.metric.name) ? "linear" : ""}}},
          {"plugins", named_plugins()},
          {"early_terminate", stored(list.early_terminate)},
          {"seeds", list.seeds},
          {"search_seed", list.search_seed},
          {"parameters", parameters_json(list)},
          {"ranking", std::move(ranking)},
          {"rows", std::move(rows)},
          {"claims", claims_json(claims)}};
}

JsonObject row_json(const RunList& list, const ListedRun& row) {
  JsonObject set = JsonObject::object();
  for (const Override& setting : row.set) set[setting.path] = json_of(setting.value);
  return {{"k", row.k},
          {"run_id", row.run_id},
          {"folder", list.run(row).root.string()},
          {"part", row.part},
          {"variant", row.variant},
          {"seed", row.seed},
          {"configuration", configuration_text(list, row)},
          {"set", std::move(set)}};
}

void RowCosts::look(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (costs_.size() < list_.rows.size() && std::chrono::steady_clock::now() < end) {
    const ListedRun& row = list_.rows[costs_.size()];
    double found = kUndefined;
    try {
      found = cost(row);
    } catch (const std::exception&) {  // reported by the worker of the row
    }
    costs_.push_back(found);
  }
}

double RowCosts::of(const ListedRun& row) const {
  const auto at = usize(&row - list_.rows.data());
  return at < costs_.size() ? costs_[at] : kUndefined;
}

RowCosts::Pairs RowCosts::pairs(const Spec& spec) {
  const std::string key =
      spec.task.type +
      canonical_json(*spec.task.options, [](const InputFile& file) { return file.path; });
  if (const auto known = data_.find(key); known != data_.end()) return known->second;
  const auto task = make_plugin<TaskKind>(spec.task);
  const DataOutline outline = task->outline();
  Pairs found{.source_format = outline.source(), .target_symbols = outline.target_symbols};
  if (const DataOutline::SplitOutline& train = outline.train; train.examples > 0) {
    found.count = static_cast<double>(train.drawn > 0 ? train.drawn : train.examples);
    found.source = train.source.mean;
    found.target = train.target.mean;
  } else {
    if (task->has_to_train_subwords()) throw DataError("its subwords are not trained yet");
    const Dataset data =
        task->load(static_cast<std::uint64_t>(spec.seed), [](std::string_view, Index, Index) {});
    found.source_format = data.source_format();
    found.target_symbols = data.target->size();
    const auto examples = static_cast<double>(data.train.examples.size());
    for (const ExampleRow& example : data.train.examples.rows()) {
      found.source += example.source / examples;
      found.target += example.target / examples;
    }
    found.count = data.train.portions.empty() ? examples : 0;
    for (const Portion& portion : data.train.portions)
      found.count += portion.weight * static_cast<double>(portion.examples);
  }
  found.source /= static_cast<double>(found.source_format.frames.height);
  return data_[key] = found;
}

double RowCosts::cost(const ListedRun& row) {
  const Spec spec = resolve_row(list_, row, load_).spec;
  const Pairs data = pairs(spec);
  const auto positions = [](double length) { return std::max<Index>(2, std::lround(length) + 1); };
  const Cost pair = cost_of(spec.model,
                            data.source_format,
                            data.target_symbols,
                            {positions(data.source), positions(data.target)});
  double drawn = static_cast<double>(spec.train.epochs) * data.count;
  if (spec.train.max_updates)
    drawn =
        std::min(drawn, static_cast<double>(*spec.train.max_updates * spec.train.batch.sentences));
  return drawn * static_cast<double>(pair.multiplications);
}

double used_updates(const std::vector<RowStatus>& rows) {
  double made = 0, planned = 0;
  for (const RowStatus& row : rows) {
    if (row.state != RunState::complete || row.updates == 0) continue;
    made += static_cast<double>(row.last_update);
    planned += static_cast<double>(row.updates);
  }
  return planned > 0 ? made / planned : 1;
}

void RowPace::add(const std::string& part, double cost, double seconds) {
  for (Sum* sum : {&parts_[part], &all_}) {
    ++sum->rows;
    sum->cost += cost;  // unknown costs count as equal
    sum->seconds += seconds;
  }
}

double RowPace::seconds(const std::string& part, double cost) const {
  const auto own = parts_.find(part);
  const Sum& sum = own == parts_.end() ? all_ : own->second;
  const double by_cost = cost * sum.seconds / sum.cost;
  return std::isfinite(by_cost) ? by_cost : sum.seconds / sum.rows;
}

}  // namespace softalign
