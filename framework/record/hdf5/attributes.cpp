// Attributes between HDF5 and JSON.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "framework/base/text.hpp"
#include "framework/base/types.hpp"
#include "framework/record/hdf5/detail.hpp"

namespace softalign::hdf5 {
namespace {

using Json = JsonObject;

// Limit of all attributes of an object as JSON; a record has a few KiB.
constexpr std::uint64_t kMostBytes = 1 << 20;
constexpr std::size_t kName = 256;  // counted for each name

void write_raw(hid_t object,
               const std::string& name,
               hid_t type,
               hid_t memory,
               const std::vector<Index>& shape,
               const void* values) {
  if (check(H5Aexists(object, name.c_str()), "attribute " + name) > 0)
    check(H5Adelete(object, name.c_str()), "attribute " + name);
  const Hdf5Handle extent = space(shape);
  const Hdf5Handle attribute(
      check(H5Acreate2(object, name.c_str(), type, extent.id(), H5P_DEFAULT, H5P_DEFAULT),
            "attribute " + name),
      H5Aclose);
  check(H5Awrite(attribute.id(), memory, values), "attribute " + name);
}

template <class T>
void write_numbers(hid_t object,
                   const std::string& name,
                   const std::vector<Index>& shape,
                   const std::vector<T>& values) {
  write_raw(object, name, ElementType<T>::file(), ElementType<T>::memory(), shape, values.data());
}

void write_strings(hid_t object,
                   const std::string& name,
                   const std::vector<Index>& shape,
                   const std::vector<std::string>& values) {
  std::size_t size = 1;
  for (const std::string& s : values) size = std::max(size, s.size());
  std::string packed;
  for (std::string s : values) {
    s.resize(size);
    packed += s;
  }
  const Hdf5Handle type = string_type(size);
  write_raw(object, name, type.id(), type.id(), shape, packed.data());
}

bool all_of(const Json& list, bool (Json::*is)() const noexcept) {
  return std::all_of(list.begin(), list.end(), [&](const Json& e) { return (e.*is)(); });
}

double to_number(const Json& value) {  // JSON has no NaN: it writes null
  return value.is_null() ? kUndefined : value.get<double>();
}

bool serves_scales(const std::string& name) {
  return name == "CLASS" || name == "NAME" || name == "DIMENSION_LIST" || name == "REFERENCE_LIST";
}

MachineError wrong(hid_t object, const std::string& name, const char* what) {
  char path[1024] = {};
  H5Iget_name(object, path, sizeof path - 1);
  return MachineError("attribute '{}' of {} is {}", name, path, what);
}

template <class T>
Json read_numbers(hid_t attribute, bool scalar, std::size_t count) {
  std::vector<T> values(count);
  check(H5Aread(attribute, ElementType<T>::memory(), values.data()), "attribute");
  Json list = values;
  return scalar ? list[0] : list;
}

Json read_attribute(hid_t object, const std::string& name, Allowance& allowance) {
  const Hdf5Handle attribute(check(H5Aopen(object, name.c_str(), H5P_DEFAULT), name), H5Aclose);
  const Hdf5Handle type(check(H5Aget_type(attribute.id()), name), H5Tclose);
  const Hdf5Handle extent(check(H5Aget_space(attribute.id()), name), H5Sclose);
  const bool scalar = H5Sget_simple_extent_ndims(extent.id()) == 0;
  const auto count = usize(check(H5Sget_simple_extent_npoints(extent.id()), name));
  const H5T_class_t kind = H5Tget_class(type.id());
  const std::size_t size = H5Tget_size(type.id());
  if (count == 0) throw wrong(object, name, "empty");
  allowance.take(1, kName, "attribute " + name);
  allowance.take(count, std::max(size, sizeof(Json)), "attribute " + name);
  if (kind == H5T_FLOAT) return read_numbers<double>(attribute.id(), scalar, count);
  if (kind == H5T_INTEGER && size == 1)
    return read_numbers<std::uint8_t>(attribute.id(), scalar, count);
  if (kind == H5T_INTEGER) return read_numbers<std::int64_t>(attribute.id(), scalar, count);
  if (kind == H5T_STRING && H5Tis_variable_str(type.id()) == 0) {
    std::string packed(size * count, '\0');
    check(H5Aread(attribute.id(), type.id(), packed.data()), name);
    Json list = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = packed.substr(i * size, size).c_str();
      if (!is_text(text)) throw wrong(object, name, "no UTF-8 text");
      list.push_back(text);
    }
    return scalar ? list[0] : list;
  }
  return nullptr;  // written by another program
}

}  // namespace

void write_attribute(hid_t object, const std::string& name, const JsonObject& value) {
  Json list = value;
  std::vector<Index> shape;
  if (value.is_array()) {
    shape = {static_cast<Index>(value.size())};
  } else {
    list = Json::array({value});
  }
  if (all_of(list, &Json::is_string)) {
    write_strings(object, name, shape, list.get<std::vector<std::string>>());
  } else if (all_of(list, &Json::is_boolean)) {
    std::vector<std::uint8_t> flags;
    for (const Json& e : list) flags.push_back(e.get<bool>());
    write_numbers(object, name, shape, flags);
  } else if (all_of(list, &Json::is_number_integer)) {
    write_numbers(object, name, shape, list.get<std::vector<std::int64_t>>());
  } else if (std::all_of(list.begin(), list.end(), [](const Json& e) {
               return e.is_number() || e.is_null();
             })) {
    std::vector<double> numbers;
    for (const Json& e : list) numbers.push_back(to_number(e));
    write_numbers(object, name, shape, numbers);
  } else {
    throw BugError("attribute '{}' is not text, numbers or flags: {}", name, value.dump());
  }
}

void write_attribute(hid_t object, const std::string& name, float value) {
  write_numbers<float>(object, name, {1}, {value});
}

JsonObject read_attributes(hid_t object) {
  Names names;
  hsize_t at = 0;
  const herr_t done =
      H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, Names::add<H5A_info_t>, &names);
  Allowance allowance(kMostBytes);
  Json json = Json::object();
  for (const std::string& name : names.after(done, "attributes")) {
    if (!is_text(name)) throw wrong(object, name, "named by text that is not UTF-8");
    if (!serves_scales(name)) json[name] = read_attribute(object, name, allowance);
  }
  return json;
}

void copy_attributes(hid_t from, hid_t to) {
  const Json members = read_attributes(from);
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;
    const Hdf5Handle attribute(check(H5Aopen(from, name.c_str(), H5P_DEFAULT), name), H5Aclose);
    const Hdf5Handle type(check(H5Aget_type(attribute.id()), name), H5Tclose);
    const Hdf5Handle extent(check(H5Aget_space(attribute.id()), name), H5Sclose);
    const auto count = usize(check(H5Sget_simple_extent_npoints(extent.id()), name));
    std::string bytes(count * H5Tget_size(type.id()), '\0');
    check(H5Aread(attribute.id(), type.id(), bytes.data()), name);
    std::vector<Index> shape;
    if (value.is_array()) shape = {std::ssize(value)};
    write_raw(to, name, type.id(), type.id(), shape, bytes.data());
  }
}

template <class T>
std::optional<T> read_attribute_as(hid_t object, const std::string& name) {
  if (check(H5Aexists(object, name.c_str()), name) == 0) return std::nullopt;
  Allowance allowance(kMostBytes);
  const Json value = read_attribute(object, name, allowance);
  if constexpr (std::is_same_v<T, Index>) {
    if (value.is_number_integer()) return value.get<Index>();
    throw wrong(object, name, "no whole number");
  } else if constexpr (std::is_same_v<T, double>) {
    if (value.is_number()) return value.get<double>();
    throw wrong(object, name, "no number");
  } else {
    if (value.is_string()) return value.get<std::string>();
    throw wrong(object, name, "not variable-length text, as in a record");
  }
}

template std::optional<Index> read_attribute_as(hid_t, const std::string&);
template std::optional<double> read_attribute_as(hid_t, const std::string&);
template std::optional<std::string> read_attribute_as(hid_t, const std::string&);

}  // namespace softalign::hdf5
