#include "framework/record/published/publish.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/hash.hpp"
#include "framework/base/json.hpp"
#include "framework/base/process.hpp"
#include "framework/base/types.hpp"
#include "framework/record/provenance/provenance.hpp"

namespace softalign {
namespace {

std::string path_of(const Array& array) {
  return array.group.empty() ? array.name : array.group + "/" + array.name;
}

bool is_coordinates(const Array& array) {
  return array.dims.size() == 1 && array.dims[0].name == array.name;
}

// Returns whether an array has a row per update (Recorder::row).
bool is_row(const Array& array) {
  return !array.dims.empty() && array.dims[0] == Dimension{"update", 1} &&
         std::holds_alternative<std::vector<double>>(array.values);
}

// The rows of one array, by update.
using Rows = std::map<Index, const Array*>;

// Returns the rows as one array, with NaN at updates that only other arrays of its group have.
Array joined(const Rows& rows, const std::set<Index>& updates) {
  Array all = *rows.rbegin()->second;
  const Index size = size_of(all.values);
  std::vector<double> values;
  for (const Index update : updates) {
    const auto row = rows.find(update);
    if (row == rows.end()) {
      values.resize(values.size() + usize(size), kUndefined);
    } else {
      const auto& numbers = std::get<std::vector<double>>(row->second->values);
      values.insert(values.end(), numbers.begin(), numbers.end());
    }
  }
  all.dims[0].size = std::ssize(updates);
  all.values = std::move(values);
  return all;
}

// Writes the arrays that were recorded as rows, with their updates.
void write_rows(Hdf5Writer& file, const std::vector<Frame>& frames) {
  std::vector<std::string> order;
  std::map<std::string, Rows> arrays;
  std::map<std::string, std::set<Index>> updates;  // of each group
  for (const Frame& frame : frames) {
    const auto* array = std::get_if<Array>(&frame);
    if (!array || !is_row(*array)) continue;
    Rows& rows = arrays[path_of(*array)];
    if (rows.empty()) order.push_back(path_of(*array));
    rows[array->update] = array;
    updates[array->group].insert(array->update);
  }
  for (const auto& [group, all] : updates) {
    const std::string path = group + "/update";
    file.dataset(path, {{"update", std::ssize(all)}}, std::vector<Index>(all.begin(), all.end()));
    file.attributes(path, {{"long_name", "optimizer update"}});
  }
  for (const std::string& path : order) {
    const Array whole = joined(arrays[path], updates[arrays[path].begin()->second->group]);
    file.dataset(path, whole.dims, whole.values);
    file.attributes(path, read_json<JsonObject>(whole.attributes));
  }
}

}  // namespace

void write_arrays(Hdf5Writer& file, const std::vector<Frame>& frames) {
  std::vector<std::string> order;
  std::map<std::string, const Array*> arrays;  // the newest of each name
  for (const Frame& frame : frames) {
    const auto* array = std::get_if<Array>(&frame);
    if (!array || is_row(*array)) continue;
    if (!arrays.contains(path_of(*array))) order.push_back(path_of(*array));
    arrays[path_of(*array)] = array;
  }
  std::stable_partition(order.begin(), order.end(), [&](const std::string& path) {
    return is_coordinates(*arrays.at(path));
  });
  for (const std::string& path : order) {
    const Array& array = *arrays.at(path);
    file.dataset(path, array.dims, array.values);
    file.attributes(path, read_json<JsonObject>(array.attributes));
  }
  write_rows(file, frames);
}

void write_attributes(Hdf5Writer& file, const std::vector<Frame>& frames) {
  for (const Frame& frame : frames)
    if (const auto* attributes = std::get_if<Attributes>(&frame))
      file.attributes(attributes->path, read_json<JsonObject>(attributes->json));
}

namespace {

using Json = JsonObject;

std::string text_of(const std::filesystem::path& file) {
  return is_there(file) ? read_file(file) : "";
}

// Returns the single values, which become attributes of the group; the complete JSON is also stored as text.
Json flat(const std::string& environment) {
  Json attributes = Json::object();
  if (!is_environment(environment)) return attributes;
  const Json json = read_json<Json>(environment);
  for (const auto& [name, value] : json.items())
    if (value.is_primitive() && !value.is_null()) attributes[name] = value;
  return attributes;
}

void write_attempts(Hdf5Writer& file, const RunFolder& run, const History& history) {
  std::vector<std::int32_t> numbers;
  std::vector<Index> updates;
  std::vector<std::string> started, ended, states, hosts, environments;
  for (const Attempt& a : history.attempts) {
    const std::string environment = text_of(run.environment(a.header.attempt));
    numbers.push_back(static_cast<std::int32_t>(a.header.attempt));
    updates.push_back(a.last_update);
    started.push_back(utc_time(a.header.started));
    ended.push_back(utc_time(a.ended));
    states.push_back(a.state);
    hosts.push_back(flat(environment).value("host", ""));
    environments.push_back(environment);
  }
  const std::vector<Dimension> dims{{"attempt", static_cast<Index>(numbers.size())}};
  const std::string group = "provenance/attempts/";
  file.dataset(group + "attempt", dims, numbers);
  file.dataset(group + "started", dims, started);
  file.dataset(group + "ended", dims, ended);
  file.dataset(group + "state", dims, states);
  file.dataset(group + "host", dims, hosts);
  file.dataset(group + "last_update", dims, updates);
  file.dataset(group + "environment_json", dims, environments);
}

void write_events(Hdf5Writer& file, const History& history) {
  if (history.events.empty()) return;
  std::vector<std::int32_t> attempts;
  std::vector<std::string> times, texts;
  for (const auto& [attempt, event] : history.events) {
    attempts.push_back(static_cast<std::int32_t>(attempt));
    times.push_back(utc_time(event.time));
    texts.push_back(event.text);
  }
  const std::vector<Dimension> dims{{"event", static_cast<Index>(texts.size())}};
  file.dataset("provenance/events/attempt", dims, attempts);
  file.dataset("provenance/events/time", dims, times);
  file.dataset("provenance/events/text", dims, texts);
}

}  // namespace

void write_provenance(Hdf5Writer& file, const RunFolder& run, const History& history) {
  const std::string spec = text_of(run.spec());
  const Index newest = history.attempts.empty() ? 0 : history.attempts.back().header.attempt;
  Json attributes = flat(text_of(run.environment(newest)));
  attributes["spec_sha256"] = sha256_hex(spec);
  file.attributes("provenance", attributes);
  file.dataset("provenance/spec_yaml", {}, std::vector{spec});
  file.dataset("provenance/identity_json", {}, std::vector{text_of(run.identity())});
  file.dataset("provenance/git_diff", {}, std::vector{text_of(run.diff(newest))});
  if (!history.attempts.empty()) write_attempts(file, run, history);
  write_events(file, history);
}

namespace {

struct Series {
  std::string name;
  std::vector<std::string> columns;  // in order of first appearance
  std::map<Index, std::map<std::string, double>> rows;

  void add(const Scalars& s) {
    auto& row = rows[s.update];
    const auto set = [&](const std::string& column, double value) {
      if (std::find(columns.begin(), columns.end(), column) == columns.end())
        columns.push_back(column);
      row[column] = value;
    };
    for (const auto& [column, value] : s.values) set(column, value);
    set("wall_time", s.wall_time);
  }
};

void write(Hdf5Writer& file, const Series& series) {
  const std::vector<Dimension> dims{{"update", static_cast<Index>(series.rows.size())}};
  std::vector<Index> updates;
  for (const auto& [update, row] : series.rows) updates.push_back(update);
  file.dataset(series.name + "/update", dims, updates);
  file.attributes(series.name + "/update", {{"long_name", "optimizer update"}});
  for (const std::string& column : series.columns) {
    std::vector<double> values;
    for (const auto& [update, row] : series.rows) {
      const auto value = row.find(column);
      values.push_back(value == row.end() ? kUndefined : value->second);
    }
    file.dataset(series.name + "/" + column, dims, values);
  }
  file.attributes(series.name + "/wall_time",
                  {{"units", "s"}, {"long_name", "time spent on the run"}});
  file.attributes(series.name,
                  {{"NX_class", "NXdata"},
                   {"signal", series.columns.front()},
                   {"axes", JsonObject::array({"update"})}});
}

}  // namespace

void write_series(Hdf5Writer& file, const std::vector<Frame>& frames) {
  std::vector<Series> all;
  for (const Frame& frame : frames) {
    const auto* scalars = std::get_if<Scalars>(&frame);
    if (!scalars) continue;
    auto found = std::find_if(
        all.begin(), all.end(), [&](const Series& s) { return s.name == scalars->series; });
    if (found == all.end()) found = all.insert(all.end(), Series{scalars->series, {}, {}});
    found->add(*scalars);
  }
  for (const Series& series : all) write(file, series);
}

}  // namespace softalign
