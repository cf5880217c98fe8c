#include "framework/record/hdf5_detail.hpp"

namespace softalign {
using namespace hdf5;
namespace {

template <class T>
Values read_as(hid_t dataset, std::size_t count, const std::string& path) {
  std::vector<T> values(count);
  const hid_t memory = ElementType<T>::memory();
  check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
  return values;
}

Values read_texts(hid_t dataset, std::size_t count, const std::string& path) {
  std::vector<char*> pointers(count, nullptr);
  const Hdf5Handle type = string_type(H5T_VARIABLE);
  check(H5Dread(dataset, type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), path);
  std::vector<std::string> values;
  for (char* s : pointers) values.emplace_back(s ? s : "");
  for (char* s : pointers) H5free_memory(s);
  return values;
}

}  // namespace

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) : name_(file.string()) {
  silence();
  if (!std::filesystem::is_regular_file(file)) throw DataError("{}: no such file", name_);
  if (H5Fis_hdf5(name_.c_str()) <= 0) throw DataError("{}: not an HDF5 file", name_);
  const Hdf5Handle access = property_list(H5P_FILE_ACCESS);
  // A published file never changes: no lock needed, and some network disks have none.
  H5Pset_file_locking(access.id(), false, true);
  const hid_t id = H5Fopen(name_.c_str(), H5F_ACC_RDONLY, access.id());
  if (id < 0) throw DataError("{}: damaged HDF5 file: {}", name_, reason());
  file_ = {id, H5Fclose};
}

bool Hdf5Reader::exists(const std::string& path) const { return exists_in(file_.id(), path); }

bool Hdf5Reader::is_group(const std::string& path) const {
  return exists(path) && H5Iget_type(open_object(file_.id(), path).id()) == H5I_GROUP;
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  const Hdf5Handle object = open_object(file_.id(), group);
  const Hdf5Handle creation(check(H5Gget_create_plist(object.id()), group), H5Pclose);
  unsigned order = 0;
  check(H5Pget_link_creation_order(creation.id(), &order), group);
  const H5_index_t index = (order & H5P_CRT_ORDER_INDEXED) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  H5G_info_t info{};
  check(H5Gget_info(object.id(), &info), group);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const ssize_t size =
        check(H5Lget_name_by_idx(object.id(), ".", index, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT),
              group);
    std::string name(static_cast<std::size_t>(size) + 1, '\0');
    H5Lget_name_by_idx(
        object.id(), ".", index, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<Dimension> Hdf5Reader::dims(const std::string& dataset) const {
  const Hdf5Handle set = open_object(file_.id(), dataset);
  const Hdf5Handle extent(check(H5Dget_space(set.id()), name_ + "/" + dataset), H5Sclose);
  const int rank = check(H5Sget_simple_extent_ndims(extent.id()), dataset);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(extent.id(), sizes.data(), nullptr), dataset);
  std::vector<Dimension> dims;
  const bool is_scale = H5DSis_scale(set.id()) > 0;
  for (unsigned i = 0; i < sizes.size(); ++i) {
    std::string name;
    const auto scale_name = [](hid_t, unsigned, hid_t scale, void* out) -> herr_t {
      char buffer[1024] = {};
      H5Iget_name(scale, buffer, sizeof buffer - 1);
      *static_cast<std::string*>(out) =
          std::string(buffer).substr(std::string(buffer).rfind('/') + 1);
      return 1;
    };
    if (is_scale) {
      name = dataset.substr(dataset.rfind('/') + 1);
    } else {
      H5DSiterate_scales(set.id(), i, nullptr, scale_name, &name);
    }
    dims.push_back({name, static_cast<Index>(sizes[i])});
  }
  return dims;
}

Values Hdf5Reader::read(const std::string& dataset) const {
  const std::string where = name_ + "/" + dataset;
  if (!exists(dataset)) throw DataError("{}: no such dataset", where);
  try {
    const Hdf5Handle set = open_object(file_.id(), dataset);
    const Hdf5Handle extent(check(H5Dget_space(set.id()), where), H5Sclose);
    const Hdf5Handle type(check(H5Dget_type(set.id()), where), H5Tclose);
    const auto count =
        static_cast<std::size_t>(check(H5Sget_simple_extent_npoints(extent.id()), where));
    const H5T_class_t kind = H5Tget_class(type.id());
    const std::size_t size = H5Tget_size(type.id());
    if (kind == H5T_STRING) return read_texts(set.id(), count, where);
    if (kind == H5T_FLOAT && size == 4) return read_as<float>(set.id(), count, where);
    if (kind == H5T_FLOAT) return read_as<double>(set.id(), count, where);
    if (kind == H5T_INTEGER && size == 1) return read_as<std::uint8_t>(set.id(), count, where);
    if (kind == H5T_INTEGER && size == 4) return read_as<std::int32_t>(set.id(), count, where);
    if (kind == H5T_INTEGER && size == 8) return read_as<std::int64_t>(set.id(), count, where);
  } catch (const MachineError& e) {
    throw DataError("{}: damaged: {}", name_, e.what());
  }
  throw DataError("{}: an element type that no record uses", where);
}

std::vector<float> Hdf5Reader::read_block(const std::string& dataset,
                                          const std::vector<Index>& start,
                                          const std::vector<Index>& size) const {
  try {
    Index count = 1;
    for (Index n : size) count *= n;
    std::vector<float> values(static_cast<std::size_t>(count));
    const Hdf5Handle set = open_object(file_.id(), dataset);
    const Block block = select(set.id(), start, size);
    check(H5Dread(set.id(),
                  H5T_NATIVE_FLOAT,
                  block.memory.id(),
                  block.file.id(),
                  H5P_DEFAULT,
                  values.data()),
          dataset);
    return values;
  } catch (const MachineError& e) {
    throw DataError("{}: damaged: {}", name_, e.what());
  }
}

std::string Hdf5Reader::attributes(const std::string& path) const {
  return read_attributes(open_object(file_.id(), path).id());
}

}  // namespace softalign
