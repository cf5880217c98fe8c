#include "framework/analysis/run_summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/train/spec.hpp"
#include "framework/train/stored_results.hpp"

namespace softalign {
namespace {

constexpr const char* kLoss = "loss";

SeriesColumns thin(const SeriesColumns& series, const std::string& column) {
  SeriesColumns thin;
  const auto found = series.columns.find(column);
  if (found == series.columns.end()) return thin;
  for (const std::size_t i : thinned(series.updates.size())) {
    thin.updates.push_back(series.updates[i]);
    thin.columns[column].push_back(found->second[i]);
  }
  return thin;
}

std::string test_set_of(const Record& record) {
  if (!record.has("test/source_length")) return {};
  ByteWriter out;
  for (const char* name : {"source", "reference"}) {
    if (!record.has(std::string("test/") + name)) continue;
    const Values values = record.array("test", name).values;
    if (const auto* texts = std::get_if<std::vector<std::string>>(&values))
      for (const std::string& text : *texts) out.text(text);
  }
  return sha256_hex(out.bytes());
}

void read_record(RunSummary& summary, const std::filesystem::path& file) {
  const Record record(file);
  summary.name = record.name();
  summary.run_id = record.run_id();
  summary.identity = record.identity_json();
  summary.complete = record.complete();
  summary.test = read_totals(record);
  summary.test_set = test_set_of(record);
  if (!summary.test.rows.empty())
    summary.selected = record.attribute<Index>("test", "selected_update").value_or(0);
  if (record.has("dev/update")) summary.dev = record.series("dev");
  if (record.has("train/update")) summary.train = thin(record.series("train", {kLoss}), kLoss);
  if (summary.status.attempt == 0) {  // a record that was copied here alone
    summary.status.state = run_state(record.state()).value_or(RunState::interrupted);
    summary.status.last_update = record.last_update();
  }
}

// A run without a record. Nothing is asked of one that somebody works on: he may be just beginning.
void read_folder(RunSummary& summary) {
  const RunFolder& run = summary.run;
  if (is_there(run.identity())) summary.identity = read_file(run.identity());
  demand_run_folder(run.root);
  if (summary.status.state == RunState::planned && run.journals().empty())
    throw DataError("{}: neither a journal nor a record; remove the folder, or run its spec again",
                    run.root.string());
  const std::vector<Index> journals = run.journals();
  if (is_worked_on(summary.status.state) || journals.empty()) return;
  JournalTail journal(run.journal(journals.back()));
  journal.next();
  check_spec_files(
      run, journal.header() ? journal.header()->run_id : "", Spec::options_outside_run_id());
}

// Calls read(), or keeps why it cannot read.
template <class Read>
void read_or_say(RunSummary& summary, const Read& read) {
  try {
    read();
  } catch (const std::bad_alloc&) {  // the machine's, whatever the run
    throw;
  } catch (const std::exception& error) {
    summary.fault = message_of(error);
    if (!dynamic_cast<const DataError*>(&error)) summary.fault_state = RunState::unreadable;
  }
}

}  // namespace

std::string RunSummary::state() const {
  return std::string(to_string(fault.empty() ? status.state : fault_state));
}

RunSummary summarize_run(const RunFolder& run) {
  RunSummary summary;
  summary.run = run;
  std::filesystem::path whole = whole_path(run.root);
  if (!whole.has_filename()) whole = whole.parent_path();  // it was written with a slash behind it
  summary.name = whole.parent_path().filename().string();
  summary.run_id = whole.filename().string();
  read_or_say(summary, [&] {
    summary.status = run_status(run);
    if (is_there(run.record()))
      read_record(summary, run.record());
    else
      read_folder(summary);
  });
  return summary;
}

RunSummary summarize_record(const std::filesystem::path& file) {
  RunSummary summary;
  read_or_say(summary, [&] { read_record(summary, file); });
  return summary;
}

bool may_change_unseen(RunState state) { return is_worked_on(state) || state == RunState::lost; }

std::vector<std::size_t> thinned(std::size_t n, std::size_t most) {
  const std::size_t kept = std::min(n, most);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < kept; ++i) places.push_back(n <= most ? i : i * (n - 1) / (most - 1));
  return places;
}

double last_value(const SeriesColumns& series, const std::string& column) {
  const auto found = series.columns.find(column);
  if (found != series.columns.end())
    for (auto value = found->second.rbegin(); value != found->second.rend(); ++value)
      if (!std::isnan(*value)) return *value;
  return kUndefined;
}

double selected_value(const RunSummary& summary, const std::string& metric) {
  const auto found = summary.dev.columns.find(metric);
  if (summary.selected > 0 && found != summary.dev.columns.end())
    for (std::size_t i = 0; i < summary.dev.updates.size(); ++i)
      if (summary.dev.updates[i] == summary.selected) return found->second[i];
  return last_value(summary.dev, metric);
}

double best_value(const SeriesColumns& series, const std::string& column, bool highest) {
  double best = kUndefined;
  const auto found = series.columns.find(column);
  if (found == series.columns.end()) return best;
  for (const double value : found->second)
    if (std::isnan(best) || (highest ? value > best : value < best)) best = value;
  return best;
}

std::optional<bool> higher_is_better(const std::string& metric) {
  const auto known = metric_named(metric);
  return known ? known->facts().higher_is_better : std::nullopt;
}

}  // namespace softalign
