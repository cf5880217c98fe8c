#include "framework/base/types.hpp"

#include <nlohmann/json.hpp>
#include "framework/record/file.hpp"
#include "framework/record/folder/run_folder.hpp"
#include "framework/record/hdf5/detail.hpp"
#include "framework/record/hdf5/seal.hpp"

namespace softalign {
using namespace hdf5;
namespace {

// More places than any array has; products of some axes of fewer stay small too.
constexpr hsize_t kMostPlaces = hsize_t{1} << 48;

// How many times its size deflate makes of a file at most; and what may be read whatever the file's size,
// because places of an array that nobody wrote take no room.
constexpr std::uint64_t kMostDeflated = 1032;
constexpr std::uint64_t kAlways = 64 << 20;

// The axes of a dataset, whose values must lie in its own file.
std::vector<hsize_t> axes_of(hid_t dataset, const std::string& path) {
  const Hdf5Handle creation(check(H5Dget_create_plist(dataset), path), H5Pclose);
  if (H5Pget_layout(creation.id()) == H5D_VIRTUAL || H5Pget_external_count(creation.id()) != 0)
    throw MachineError("the values of {} are in another file", printable(path));
  const Hdf5Handle extent(check(H5Dget_space(dataset), path), H5Sclose);
  const int rank = check(H5Sget_simple_extent_ndims(extent.id()), path);
  std::vector<hsize_t> sizes(usize(rank));
  check(H5Sget_simple_extent_dims(extent.id(), sizes.data(), nullptr), path);
  hsize_t most = kMostPlaces;
  for (const hsize_t size : sizes) {
    if (size > most) throw MachineError("{} has more places than any array", printable(path));
    most /= std::max<hsize_t>(size, 1);
  }
  return sizes;
}

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
  const herr_t done = H5Dread(dataset, type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data());
  const std::string why = done < 0 ? reason() : "";
  std::vector<std::string> values;
  for (char* s : pointers) {  // some, where it failed
    if (done >= 0) values.emplace_back(s ? s : "");
    H5free_memory(s);
  }
  if (done < 0) throw MachineError("HDF5: {}: {}", path, why);
  return values;
}

// The library reads this attribute as a reference or more for each axis, whatever it is.
void check_dimension_list(hid_t dataset, std::size_t axes, const std::string& path) {
  constexpr const char* kName = "DIMENSION_LIST";
  if (check(H5Aexists(dataset, kName), path) == 0) return;
  const Hdf5Handle list(check(H5Aopen(dataset, kName, H5P_DEFAULT), path), H5Aclose);
  const Hdf5Handle type(check(H5Aget_type(list.id()), path), H5Tclose);
  const Hdf5Handle extent(check(H5Aget_space(list.id()), path), H5Sclose);
  bool sound = H5Tget_class(type.id()) == H5T_VLEN &&
               H5Sget_simple_extent_npoints(extent.id()) == static_cast<hssize_t>(axes);
  if (sound) {
    const Hdf5Handle element(check(H5Tget_super(type.id()), path), H5Tclose);
    sound = check(H5Tequal(element.id(), H5T_STD_REF_OBJ), path) > 0;
  }
  if (!sound) throw MachineError("the {} of {} is no list of its axes", kName, printable(path));
}

// The name of the scale of an axis, which is that of its dimension. What H5Iget_name says would take a walk
// through the whole file.
std::string scale_of(hid_t dataset, unsigned axis) {
  const auto keep_open = [](hid_t, unsigned, hid_t scale, void* kept) -> herr_t {
    H5Iinc_ref(scale);
    *static_cast<hid_t*>(kept) = scale;
    return 1;
  };
  hid_t kept = H5I_INVALID_HID;
  H5DSiterate_scales(dataset, axis, nullptr, keep_open, &kept);
  if (kept < 0) return "";
  const Hdf5Handle scale(kept, H5Dclose);
  return read_attribute_as<std::string>(scale.id(), "NAME").value_or("");
}

}  // namespace

DataError damaged_record(const std::filesystem::path& file, const std::string& reason) {
  return DataError("{}: damaged: {}; {}", file.string(), reason, remedy_for(file));
}

// Whatever fails while a file is read is damage of that file: HDF5's own errors, and sizes or texts
// of which nothing can be made.
template <class Work>
auto Hdf5Reader::guarded(const Work& work) const -> decltype(work()) {
  try {
    return work();
  } catch (const DataError&) {
    throw;  // names the file already
  } catch (const MachineError& error) {
    if (const int code = system_error(error.what()); code != 0) throw_unreadable(name_, code);
    throw damaged_record(name_, error.what());
  } catch (const std::exception& error) {
    throw damaged_record(name_, fmt::format("it holds what no record does ({})", error.what()));
  }
}

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file) : name_(file.string()) {
  silence();
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) throw DataError("{}: no such file", name_);
  const Seal seal = seal_of(file);
  most_bytes_ = std::max(kAlways, kMostDeflated * std::filesystem::file_size(file, error));
  if (seal == Seal::broken) throw damaged_record(file, "its bytes are not those that were written");
  const Hdf5Handle access = property_list(H5P_FILE_ACCESS);
  // A published file never changes: no lock needed, and some network disks have none.
  H5Pset_file_locking(access.id(), false, true);
  // Of damaged objects the library itself may leave some open, and a file with them.
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "closing");
  guarded([&] {
    if (check(H5Fis_hdf5(name_.c_str()), "open") == 0)
      throw DataError("{}: not an HDF5 file; {}",
                      name_,
                      file.filename() == RunFolder{}.record().filename()
                          ? remedy_for(file)
                          : "name a run's folder or its run.h5");
    file_ = {H5Fopen(name_.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
    if (file_.id() < 0 && reason().starts_with("truncated file"))
      throw damaged_record(file, "truncated: the end of its data is missing");
    check(file_.id(), "open");
    haddr_t end = 0;
    check(H5Fget_eoa(file_.id(), &end), "end of file");
    if (seal == Seal::absent && std::filesystem::file_size(file) > end)
      throw damaged_record(file, "truncated: behind its data is only a part of its checksum");
  });
}

bool Hdf5Reader::exists(const std::string& path) const {
  return guarded([&] { return exists_in(file_.id(), path); });
}

bool Hdf5Reader::is_group(const std::string& path) const {
  return guarded(
      [&] { return exists(path) && H5Iget_type(open_object(file_.id(), path).id()) == H5I_GROUP; });
}

std::vector<std::string> Hdf5Reader::children(const std::string& group) const {
  return guarded([&] {
    const Hdf5Handle object = open_object(file_.id(), group);
    if (H5Iget_type(object.id()) != H5I_GROUP)
      throw MachineError("{} is no group", printable(group));
    const Hdf5Handle creation(check(H5Gget_create_plist(object.id()), group), H5Pclose);
    unsigned order = 0;
    check(H5Pget_link_creation_order(creation.id(), &order), group);
    const H5_index_t index = (order & H5P_CRT_ORDER_INDEXED) ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    H5G_info_t info{};
    check(H5Gget_info(object.id(), &info), group);
    const auto name_of = [&](hsize_t i, char* name, std::size_t size) {
      return check(
          H5Lget_name_by_idx(object.id(), ".", index, H5_ITER_INC, i, name, size, H5P_DEFAULT),
          group);
    };
    std::vector<std::string> names;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      std::string name(usize(name_of(i, nullptr, 0)) + 1, '\0');
      name_of(i, name.data(), name.size());
      name.pop_back();
      names.push_back(std::move(name));
    }
    return names;
  });
}

std::vector<Dimension> Hdf5Reader::dims(const std::string& dataset) const {
  return guarded([&] {
    const Hdf5Handle set = open_dataset(file_.id(), dataset);
    const std::vector<hsize_t> sizes = axes_of(set.id(), dataset);
    const bool is_scale = H5DSis_scale(set.id()) > 0;
    check_dimension_list(set.id(), sizes.size(), dataset);
    std::vector<Dimension> dims;
    for (unsigned i = 0; i < sizes.size(); ++i)
      dims.push_back({is_scale ? dataset.substr(dataset.rfind('/') + 1) : scale_of(set.id(), i),
                      static_cast<Index>(sizes[i])});
    return dims;
  });
}

Values Hdf5Reader::read(const std::string& dataset) const {
  if (!exists(dataset)) throw damaged_record(name_, fmt::format("no dataset '{}'", dataset));
  return guarded([&]() -> Values {
    const Hdf5Handle set = open_dataset(file_.id(), dataset);
    axes_of(set.id(), dataset);  // refuses what no array of ours is
    const Hdf5Handle extent(check(H5Dget_space(set.id()), dataset), H5Sclose);
    const Hdf5Handle type(check(H5Dget_type(set.id()), dataset), H5Tclose);
    const auto count = usize(check(H5Sget_simple_extent_npoints(extent.id()), dataset));
    const H5T_class_t kind = H5Tget_class(type.id());
    const std::size_t size = H5Tget_size(type.id());
    if (count > most_bytes_ / std::max<std::size_t>(size, 1))
      throw MachineError(
          "{} has {} values, more than its file can hold", printable(dataset), count);
    if (kind == H5T_STRING && H5Tis_variable_str(type.id()) == 0)
      throw MachineError("{} holds texts of one length, which no record has", printable(dataset));
    if (kind == H5T_STRING) return read_texts(set.id(), count, dataset);
    if (kind == H5T_FLOAT && size == 4) return read_as<float>(set.id(), count, dataset);
    if (kind == H5T_FLOAT) return read_as<double>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 1) return read_as<std::uint8_t>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 4) return read_as<std::int32_t>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 8) return read_as<std::int64_t>(set.id(), count, dataset);
    throw DataError("{}/{}: an element type that no record uses", name_, dataset);
  });
}

std::vector<float> Hdf5Reader::read_block(const std::string& dataset,
                                          const std::vector<Index>& start,
                                          const std::vector<Index>& size) const {
  return guarded([&] {
    Index count = 1;
    for (Index n : size) count *= n;
    std::vector<float> values(usize(count));
    const Hdf5Handle set = open_dataset(file_.id(), dataset);
    axes_of(set.id(), dataset);
    const Hdf5Handle type(check(H5Dget_type(set.id()), dataset), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_FLOAT)
      throw MachineError("{} holds no numbers with a fraction", printable(dataset));
    const Block block = select(set.id(), start, size);
    check(H5Dread(set.id(),
                  H5T_NATIVE_FLOAT,
                  block.memory.id(),
                  block.file.id(),
                  H5P_DEFAULT,
                  values.data()),
          dataset);
    return values;
  });
}

JsonObject Hdf5Reader::attributes(const std::string& path) const {
  return guarded([&] { return read_attributes(open_object(file_.id(), path).id()); });
}

template <class T>
std::optional<T> Hdf5Reader::attribute(const std::string& path, const std::string& name) const {
  return guarded([&] { return read_attribute_as<T>(open_object(file_.id(), path).id(), name); });
}

template std::optional<Index> Hdf5Reader::attribute(const std::string&, const std::string&) const;
template std::optional<double> Hdf5Reader::attribute(const std::string&, const std::string&) const;
template std::optional<std::string> Hdf5Reader::attribute(const std::string&,
                                                          const std::string&) const;

}  // namespace softalign
