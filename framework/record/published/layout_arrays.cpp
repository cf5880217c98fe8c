#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/json.hpp"
#include "framework/base/types.hpp"
#include "framework/record/published/layout.hpp"

namespace softalign {
namespace {

std::string path_of(const Array& array) {
  return array.group.empty() ? array.name : array.group + "/" + array.name;
}

bool is_coordinates(const Array& array) {
  return array.dims.size() == 1 && array.dims[0].name == array.name;
}

// Of an array by update (Recorder::row).
bool is_row(const Array& array) {
  return !array.dims.empty() && array.dims[0] == Dimension{"update", 1} &&
         std::holds_alternative<std::vector<double>>(array.values);
}

// The rows of one array, by update.
using Rows = std::map<Index, const Array*>;

// NaN at updates that only others of its group have.
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

// What was recorded as rows, whole and with its updates.
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
  std::map<std::string, const Array*> arrays;  // the last of each name stands
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

}  // namespace softalign
