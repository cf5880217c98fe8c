#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "framework/record/published/layout.hpp"

namespace softalign {
namespace {

std::string path_of(const Array& array) {
  return array.group.empty() ? array.name : array.group + "/" + array.name;
}

bool is_coordinates(const Array& array) {
  return array.dims.size() == 1 && array.dims[0].name == array.name;
}

}  // namespace

void write_arrays(Hdf5Writer& file, const std::vector<Frame>& frames) {
  std::vector<std::string> order;
  std::map<std::string, const Array*> arrays;  // the last of each name stands
  for (const Frame& frame : frames) {
    const auto* array = std::get_if<Array>(&frame);
    if (!array) continue;
    if (!arrays.contains(path_of(*array))) order.push_back(path_of(*array));
    arrays[path_of(*array)] = array;
  }
  std::stable_partition(order.begin(), order.end(), [&](const std::string& path) {
    return is_coordinates(*arrays.at(path));
  });
  for (const std::string& path : order) {
    const Array& array = *arrays.at(path);
    file.dataset(path, array.dims, array.values);
    file.attributes(path, JsonObject::parse(array.attributes));
  }
}

void write_attributes(Hdf5Writer& file, const std::vector<Frame>& frames) {
  for (const Frame& frame : frames)
    if (const auto* attributes = std::get_if<Attributes>(&frame))
      file.attributes(attributes->path, JsonObject::parse(attributes->json));
}

}  // namespace softalign
