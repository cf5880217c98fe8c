#include "framework/analysis/run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "framework/base/bytes.hpp"
#include "framework/base/error.hpp"
#include "framework/base/files.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/stored.hpp"
#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/record/folder/checks.hpp"
#include "framework/record/folder/runs_below.hpp"
#include "framework/record/journal/journal.hpp"
#include "framework/train/spec.hpp"

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
  if (!record.has("test/source_length")) {
    if (record.has("test/sentence"))
      throw damaged_record(record.file(), "test/source_length is missing");
    return {};
  }
  const Index sentences = size_of(record.array("test", "source_length").values);
  ByteWriter out;
  for (const char* name : {"source", "reference", "references"}) {
    if (!record.has(std::string("test/") + name)) continue;
    const Array array = record.array("test", name);
    const Values& values = array.values;
    if (array.dims.empty() || array.dims[0].size != sentences)
      throw damaged_value(record.file(), std::string("test/") + name);
    if (const auto* texts = std::get_if<std::vector<std::string>>(&values))
      for (const std::string& text : *texts) out.text(text);
  }
  return sha256_hex(out.bytes());
}

void read_record(Run& run) {
  const Record record(run.path);
  run.name = record.name();
  run.run_id = record.run_id();
  run.identity = record.identity_json();
  run.complete = record.complete();
  run.test = read_totals(record);
  run.test_set = test_set_of(record);
  if (!run.test.rows.empty())
    run.selected = record.attribute<Index>("test", "selected_update").value_or(0);
  if (record.has("dev/update")) run.dev = record.series("dev");
  if (record.has("train/update")) run.train = thin(record.series("train", {kLoss}), kLoss);
  run.origin = origin_of(record);
  if (run.status.attempt == 0) {  // a record that was copied without its run folder
    run.status.state = run_state(record.state()).value_or(RunState::interrupted);
    run.status.last_update = record.last_update();
  }
}

// Reads a run without a record. A run that a process works on is not checked, because it may just have started.
void read_folder(Run& run) {
  const RunFolder folder{run.path};
  if (is_there(folder.identity())) run.identity = read_file(folder.identity());
  demand_run_folder(folder.root);
  run.origin = origin_of(folder);
  if (run.status.state == RunState::planned && folder.journals().empty())
    throw DataError("{}: neither a journal nor a record; remove the folder, or run its spec again",
                    folder.root.string());
  const std::vector<Index> journals = folder.journals();
  if (is_worked_on(run.status.state) || journals.empty()) return;
  JournalTail journal(folder.journal(journals.back()));
  journal.next();
  check_spec_files(
      folder, journal.header() ? journal.header()->run_id : "", Spec::options_outside_run_id());
}

}  // namespace

std::string Run::state() const {
  return std::string(to_string(fault.empty() ? status.state : fault_state));
}

std::filesystem::path Run::record() const {
  return is_folder(path) ? RunFolder{path}.record() : path;
}

Run read_run(const std::filesystem::path& path) {
  Run run;
  run.path = path;
  std::filesystem::path whole = whole_path(path);
  if (!whole.has_filename()) whole = whole.parent_path();  // the path ended in a slash
  try {
    const bool alone = !is_folder(path);
    if (!alone) {
      run.name = whole.parent_path().filename().string();
      run.run_id = whole.filename().string();
      run.status = run_status({path});
    }
    if (alone || is_there(run.record()))
      read_record(run);
    else
      read_folder(run);
  } catch (const std::bad_alloc&) {  // a fault of the machine, not of the run
    throw;
  } catch (const std::exception& error) {
    run.fault = message_of(error);
    if (!dynamic_cast<const DataError*>(&error)) run.fault_state = RunState::unreadable;
  }
  return run;
}

std::string without_seed(const std::string& identity, Index& seed) {
  JsonObject json = read_json<JsonObject>(identity);
  const auto found = json.is_object() ? json.find("seed") : json.end();
  if (!json.is_object() || found == json.end() || !found->is_number_integer())
    throw DataError("its identity is damaged: no JSON object with a seed");
  seed = found->get<Index>();
  json.erase(found);
  return json.dump();
}

void read_configuration(Run& run) {
  try {
    run.configuration = without_seed(run.identity, run.seed);
  } catch (const DataError& error) {
    throw DataError("{}: {}", run.path.string(), error);
  }
}

void demand_complete(const Run& run) {
  if (!run.fault.empty() && run.fault_state == RunState::unreadable)
    throw MachineError("{}", run.fault);
  if (!run.fault.empty()) throw DataError("{}", run.fault);
  const std::string path = run.path.string();
  if (run.status.state == RunState::complete && !run.complete)
    throw DataError(
        "{}: the run is complete, but its record is not there or old; softalign recover {}",
        path,
        shell_file(path));
  if (!run.complete) throw DataError("{}: the run is {}, so it is left out", path, run.state());
}

void read_curves(Run& run, const std::vector<std::string>& series) {
  for (const std::string& name : series)
    if (name == "dev")
      continue;
    else if (const Record record(run.path); record.has(name + "/update"))
      run.curves[name] = record.series(name);
}

void read_lengths(Run& run) {
  const Record record(run.path);
  run.by_length = read_by_length(record);
  try {
    for (std::size_t r = 1; r < run.by_length.rows.size(); ++r)  // row 0 is "all"
      length_range(run.by_length.rows[r]);
  } catch (const SpecError&) {
    throw damaged_record(record.file(), "test/by_length/label is not as softalign writes it");
  }
}

void read_sentences(Run& run) {
  if (run.test_set.empty() || run.results.counts.sentences() > 0) return;
  run.results = read_results(Record(run.path));
  read_lengths(run);
}

JsonObject run_json(const Run& run) {
  JsonObject json = {{"name", run.name},
                     {"run_id", run.run_id},
                     {"folder", run.path.string()},
                     {"state", run.state()},
                     {"updates", run.status.last_update},
                     {"heartbeat", run.status.heartbeat}};
  json.update(stored(run.origin));
  if (!run.fault.empty()) json["fault"] = run.fault;
  json["last"] = JsonObject::object();
  for (const auto& [name, value] : run.status.metrics) json["last"][name] = value;
  if (!run.test.rows.empty()) json["test"] = metrics_json(run.test).at("all");
  return json;
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

double selected_value(const Run& run, const std::string& metric) {
  const auto found = run.dev.columns.find(metric);
  if (run.selected > 0 && found != run.dev.columns.end())
    for (std::size_t i = 0; i < run.dev.updates.size(); ++i)
      if (run.dev.updates[i] == run.selected) return found->second[i];
  return last_value(run.dev, metric);
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

bool in_percent(const std::string& metric) {
  const auto known = metric_named(metric.substr(metric.find('/') + 1));
  return !known || known->facts().units == "percent";
}

std::vector<NamedFacts> metrics_of(const std::vector<const Run*>& runs,
                                   const std::vector<NamedFacts>& others) {
  std::map<std::string, MetricFacts> all;
  for (const Run* run : runs)
    for (std::size_t m = 0; m < run->test.metrics.size(); ++m)
      all.emplace(run->test.metrics[m], run->test.facts[m]);
  all.insert(others.begin(), others.end());
  std::vector<NamedFacts> ordered(all.begin(), all.end());
  std::ranges::stable_sort(ordered, {}, [](const NamedFacts& one) {
    return std::tuple(one.second.searched, one.second.order);
  });
  return ordered;
}

bool is_same_number(double recorded, double counted) {
  if (std::isnan(counted)) return std::isnan(recorded);
  const double size = std::min(std::abs(recorded), std::abs(counted));
  return recorded == counted || std::abs(recorded - counted) <= 1e-6 * size + 1e-9;
}

bool is_measured_alike(const Run& run, const std::string& metric) {
  const double recorded = run.test.find("all", metric);
  if (std::isnan(recorded) || run.results.counts.sentences() == 0) return true;
  if (!metric_named(metric)) return true;
  const std::vector<Index> all = run.results.of_length(0, std::numeric_limits<Index>::max());
  return is_same_number(recorded, run.results.value(metric, all));
}

namespace {

constexpr std::string_view kBest = ":best";

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                              "YZ0123456789_.-") == text.npos;
}

}  // namespace

MetricName metric_name(const std::string& text) {
  MetricName name{.text = text, .series = {}, .metric = text, .best = text.ends_with(kBest)};
  if (name.best) name.metric.resize(text.size() - kBest.size());
  if (const std::size_t slash = name.metric.find('/'); slash != text.npos) {
    name.series = name.metric.substr(0, slash);
    name.metric.erase(0, slash + 1);
    if (name.series.empty()) name.metric.clear();  // refused below
  }
  if (!is_name(name.metric) || (!name.series.empty() && !is_name(name.series)))
    throw SpecError(
        "--metric '{}': expected a metric of the test, as bleu, or of a series, as dev/loss "
        "(its last value) or dev/loss:best",
        printable(text));
  if (name.series == "test") {
    name.series.clear();
    name.text = name.metric;
  }
  if (!name.best) return name;
  if (name.series.empty())
    throw SpecError("--metric {}: a test has one value, so there is no best one", text);
  const auto known = metric_named(name.metric);
  if (!known || !known->facts().higher_is_better)
    throw SpecError(
        "--metric {}: which end of '{}' is best is not known: it is no registered metric, or has "
        "none",
        text,
        name.metric);
  return name;
}

std::vector<MetricName> metric_names(const std::string& list) {
  std::vector<MetricName> names;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    names.push_back(metric_name(list.substr(at, end - at)));
    at = end + 1;
  }
  return names;
}

LengthRange length_range(const std::string& text) {
  LengthRange range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.shortest);
  const char* rest = first.ptr;
  bool good = first.ec == std::errc{};
  if (good && rest == end) {
    range.longest = range.shortest;
  } else if (good && *rest == '-') {
    const auto last = std::from_chars(rest + 1, end, range.longest);
    good = last.ec == std::errc{} && last.ptr == end;
  } else {
    good = good && *rest == '+' && rest + 1 == end;
  }
  const bool padded = text.starts_with('0') || text.find("-0") != text.npos;
  if (!good || padded || range.shortest < 1 || range.longest < range.shortest)
    throw SpecError("--length '{}': expected source lengths from 1, as 31-50, 61+ or 40",
                    printable(text));
  return range;
}

}  // namespace softalign
