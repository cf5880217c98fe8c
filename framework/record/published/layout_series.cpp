#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/record/published/layout.hpp"

namespace softalign {
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
