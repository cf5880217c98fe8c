#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>

#include "framework/base/bytes.hpp"
#include "framework/base/types.hpp"
#include "framework/record/file.hpp"
#include "framework/record/hdf5/detail.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {
using namespace hdf5;
namespace {

// More elements than any array has; also limits the products of axes.
constexpr hsize_t kMostPlaces = hsize_t{1} << 48;

// The largest expansion by deflate, and a size that may be read from any file, because unwritten elements
// of an array occupy no space.
constexpr std::uint64_t kMostDeflated = 1032;
constexpr std::uint64_t kAlways = 64 << 20;

// Returns the number of elements in a block.
std::uint64_t places_in(std::span<const hsize_t> sizes, const std::string& path) {
  hsize_t most = kMostPlaces, places = 1;
  for (const hsize_t size : sizes) {
    if (size > most) throw MachineError("{} has more elements than any array", printable(path));
    most /= std::max<hsize_t>(size, 1);
    places *= size;
  }
  return places;
}

// Returns the axes of a dataset, whose values must be in the same file.
std::vector<hsize_t> axes_of(hid_t dataset, const std::string& path) {
  const Hdf5Handle creation(check(H5Dget_create_plist(dataset), path), H5Pclose);
  if (H5Pget_layout(creation.id()) == H5D_VIRTUAL || H5Pget_external_count(creation.id()) != 0)
    throw MachineError("the values of {} are in another file", printable(path));
  const Hdf5Handle extent(check(H5Dget_space(dataset), path), H5Sclose);
  const int rank = check(H5Sget_simple_extent_ndims(extent.id()), path);
  std::vector<hsize_t> sizes(usize(rank));
  check(H5Sget_simple_extent_dims(extent.id(), sizes.data(), nullptr), path);
  places_in(sizes, path);
  return sizes;
}

// Throws for missing filters, because the library's error would name its folder of plugins.
void check_filters(hid_t creation, const std::string& path) {
  const int count = check(H5Pget_nfilters(creation), path);
  for (int i = 0; i < count; ++i) {
    char name[64] = "";
    unsigned flags = 0, config = 0;
    std::size_t values = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation,
                                               static_cast<unsigned>(i),
                                               &flags,
                                               &values,
                                               nullptr,
                                               sizeof name - 1,
                                               name,
                                               &config);
    if (check(filter, path) > 0 && H5Zfilter_avail(filter) <= 0)
      throw MachineError("{} is compressed with the filter '{}', which is not installed here",
                         printable(path),
                         printable(name));
  }
}

// Opens a dataset for reading. Counts one complete chunk, for which the library needs memory, against the allowance.
Hdf5Handle open_array(hid_t file, const std::string& path, Allowance& allowance) {
  Hdf5Handle set = open_dataset(file, path);
  axes_of(set.id(), path);  // refuses arrays that no record has
  const Hdf5Handle creation(check(H5Dget_create_plist(set.id()), path), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return set;
  check_filters(creation.id(), path);
  hsize_t chunk[H5S_MAX_RANK];
  const int rank = check(H5Pget_chunk(creation.id(), H5S_MAX_RANK, chunk), path);
  const Hdf5Handle type(check(H5Dget_type(set.id()), path), H5Tclose);
  allowance.take(
      places_in({chunk, usize(rank)}, path), H5Tget_size(type.id()), "a chunk of " + path);
  return set;
}

template <class T>
Values read_as(hid_t dataset, std::size_t count, const std::string& path) {
  std::vector<T> values(count);
  demand_memory();
  const hid_t memory = ElementType<T>::memory();
  check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), path);
  return values;
}

// Receives texts of a dataset from the library, which is in C: exceptions are stored until it has returned.
class Texts {
 public:
  explicit Texts(Allowance& allowance) : allowance_(allowance) {}

  Hdf5Handle property_list() {
    Hdf5Handle list = hdf5::property_list(H5P_DATASET_XFER);
    check(H5Pset_vlen_mem_manager(
              list.id(), allocate, this, [](void*, void*) {}, nullptr),
          "texts");
    return list;
  }
  [[noreturn]] void fail(const std::string& path) const {
    if (thrown_) std::rethrow_exception(thrown_);
    hdf5::fail(path);
  }

 private:
  static void* allocate(std::size_t size, void* self) {
    auto& texts = *static_cast<Texts*>(self);
    try {
      texts.allowance_.take(size, 1, "its texts");
      return texts.held_.emplace_back(std::make_unique<char[]>(size)).get();
    } catch (...) {
      texts.thrown_ = std::current_exception();
      return nullptr;
    }
  }

  Allowance& allowance_;
  std::vector<std::unique_ptr<char[]>> held_;
  std::exception_ptr thrown_;
};

Values read_texts(hid_t dataset, std::size_t count, Allowance& allowance, const std::string& path) {
  std::vector<const char*> pointers(count, nullptr);
  Texts texts(allowance);
  const Hdf5Handle type = string_type(H5T_VARIABLE), list = texts.property_list();
  demand_memory();
  const herr_t done = H5Dread(dataset, type.id(), H5S_ALL, H5S_ALL, list.id(), pointers.data());
  if (done < 0) texts.fail(path);
  std::vector<std::string> values;
  for (const char* s : pointers) values.emplace_back(s ? s : "");
  return values;
}

// Returns the names of a large group, in order of creation. An ordered iteration would first put all links into a
// table, and would free uninitialised entries after a failed read.
std::vector<std::string> names_by_index(hid_t group, hsize_t count, const std::string& path) {
  const auto name_of = [&](hsize_t i, char* name, std::size_t size) {
    return check(
        H5Lget_name_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i, name, size, H5P_DEFAULT),
        path);
  };
  std::vector<std::string> names;
  for (hsize_t i = 0; i < count; ++i) {
    std::string name(usize(name_of(i, nullptr, 0)) + 1, '\0');
    name_of(i, name.data(), name.size());
    name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

// Checks the attribute, because the library reads it as at least one reference per axis without checking its type.
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
  if (!sound) throw MachineError("the {} of {} is not a list of its axes", kName, printable(path));
}

// Returns the name of an axis's scale, which is that of its dimension. H5Iget_name would traverse the whole
// file.
std::string scale_of(hid_t dataset, unsigned axis) {
  const auto keep_open = [](hid_t, unsigned, hid_t scale, void* kept) -> herr_t {
    H5Iinc_ref(scale);
    *static_cast<hid_t*>(kept) = scale;
    return 1;
  };
  hid_t kept = H5I_INVALID_HID;
  answer(H5DSiterate_scales(dataset, axis, nullptr, keep_open, &kept), "the scale of an axis");
  if (kept < 0) return "";
  const Hdf5Handle scale(kept, H5Dclose);
  return read_attribute_as<std::string>(scale.id(), "NAME").value_or("");
}

}  // namespace

DataError damaged_record(const std::filesystem::path& file, const std::string& reason) {
  return DataError("{}: damaged: {}; {}", file.string(), reason, remedy_for(file));
}

DataError damaged_value(const std::filesystem::path& file, const std::string& path) {
  return damaged_record(file, path + " differs from the format of a record");
}

// Converts failures to errors. Failures of the system and lack of memory are MachineErrors; all other failures mean
// that the file is damaged: HDF5's own errors, and invalid sizes or texts.
template <class Work>
auto Hdf5Reader::guarded(const Work& work) const -> decltype(work()) {
  try {
    demand_memory();
    return work();
  } catch (const DataError&) {
    throw;  // it names the file
  } catch (const MachineError& error) {
    if (const int code = system_error(error.what()); code != 0) throw_unreadable(name_, code);
    throw fault(error.what());
  } catch (const std::bad_alloc&) {
    throw MachineError("{}: cannot be read: out of memory", name_);
  } catch (const std::system_error& error) {
    throw_unreadable(name_, error.code().value());
  } catch (const std::exception& error) {
    throw fault(fmt::format("it contains something that no record has ({})", error.what()));
  }
}

DataError Hdf5Reader::fault(const std::string& reason) const {
  if (made_by_ == MadeBy::softalign) return damaged_record(name_, reason);
  return DataError(
      "{}: cannot be read: {}; write a file that holds all its values itself, without links, and "
      "compressed with gzip or not at all",
      name_,
      reason);
}

Hdf5Reader::Hdf5Reader(const std::filesystem::path& file, MadeBy made_by)
    : name_(file.string()), made_by_(made_by) {
  silence();
  if (!is_there(file)) throw DataError("{}: no such file", name_);
  const std::uint64_t size = RegularFile(file).size();
  const Seal seal = seal_of(file);
  most_bytes_ = std::max(kAlways, kMostDeflated * size);
  if (seal == Seal::broken)
    throw damaged_record(file, "its bytes have changed since they were written");
  const Hdf5Handle access = property_list(H5P_FILE_ACCESS);
  // A published file never changes, so it needs no lock, and some network disks do not support locks.
  H5Pset_file_locking(access.id(), false, true);
  // The library may leave damaged objects open, and with them the file.
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "closing");
  guarded([&] {
    if (check(H5Fis_hdf5(name_.c_str()), "open") == 0)
      throw DataError("{}: not an HDF5 file; {}",
                      name_,
                      file.filename() == RunFolder{}.record().filename()
                          ? remedy_for(file)
                          : "name a run's folder or its run.h5");
    const Hdf5Handle usual = property_list(H5P_FILE_ACCESS);
    file_ = {H5Fopen(name_.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose};
    // Another library of this process, such as h5py, may have opened the file with another degree.
    for (const auto degree : {H5F_CLOSE_STRONG, H5F_CLOSE_WEAK})
      if (file_.id() < 0 && reason().ends_with("match")) {
        check(H5Pset_fclose_degree(usual.id(), degree), "closing");
        file_ = {H5Fopen(name_.c_str(), H5F_ACC_RDONLY, usual.id()), H5Fclose};
      }
    if (file_.id() < 0 && reason().starts_with("truncated file"))
      throw fault("truncated: the end of its data is missing");
    check(file_.id(), "open");
    haddr_t end = 0;
    check(H5Fget_eoa(file_.id(), &end), "end of file");
    if (seal == Seal::absent && size > end)
      throw damaged_record(file, "truncated: its checksum is incomplete");
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
      throw MachineError("{} is not a group", printable(group));
    const Hdf5Handle creation(check(H5Gget_create_plist(object.id()), group), H5Pclose);
    unsigned order = 0;
    check(H5Pget_link_creation_order(creation.id(), &order), group);
    const bool indexed = (order & H5P_CRT_ORDER_INDEXED) != 0;
    H5G_info_t info{};
    check(H5Gget_info(object.id(), &info), group);
    if (indexed && info.storage_type == H5G_STORAGE_TYPE_DENSE)
      return names_by_index(object.id(), info.nlinks, group);
    Names names;
    const H5_index_t index = indexed ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const H5_iter_order_t native = indexed ? H5_ITER_INC : H5_ITER_NATIVE;
    std::vector<std::string> found = names.after(
        H5Literate(object.id(), index, native, nullptr, Names::add<H5L_info_t>, &names), group);
    if (!indexed) std::ranges::sort(found);
    return found;
  });
}

std::vector<Dimension> Hdf5Reader::dims(const std::string& dataset) const {
  return guarded([&] {
    const Hdf5Handle set = open_dataset(file_.id(), dataset);
    const std::vector<hsize_t> sizes = axes_of(set.id(), dataset);
    const bool is_scale = answer(H5DSis_scale(set.id()), dataset) > 0;
    check_dimension_list(set.id(), sizes.size(), dataset);
    std::vector<Dimension> dims;
    for (unsigned i = 0; i < sizes.size(); ++i)
      dims.push_back({is_scale ? dataset.substr(dataset.rfind('/') + 1) : scale_of(set.id(), i),
                      static_cast<Index>(sizes[i])});
    return dims;
  });
}

Hdf5Reader::Elements Hdf5Reader::elements_of(const std::string& dataset) const {
  return guarded([&] {
    const Hdf5Handle set = open_dataset(file_.id(), dataset);
    const Hdf5Handle type(check(H5Dget_type(set.id()), dataset), H5Tclose);
    const H5T_class_t kind = H5Tget_class(type.id());
    return kind == H5T_INTEGER ? Elements::integers
           : kind == H5T_FLOAT ? Elements::floats
                               : Elements::others;
  });
}

Values Hdf5Reader::read(const std::string& dataset) const {
  if (!exists(dataset)) throw damaged_record(name_, fmt::format("no dataset '{}'", dataset));
  return guarded([&]() -> Values {
    Allowance allowance(most_bytes_);
    const Hdf5Handle set = open_array(file_.id(), dataset, allowance);
    const Hdf5Handle extent(check(H5Dget_space(set.id()), dataset), H5Sclose);
    const Hdf5Handle type(check(H5Dget_type(set.id()), dataset), H5Tclose);
    const auto count = usize(check(H5Sget_simple_extent_npoints(extent.id()), dataset));
    const H5T_class_t kind = H5Tget_class(type.id());
    const std::size_t size = H5Tget_size(type.id());
    allowance.take(count, size, dataset);
    if (kind == H5T_STRING && H5Tis_variable_str(type.id()) == 0)
      throw MachineError("{} has fixed-length texts, which no record has", printable(dataset));
    if (kind == H5T_STRING) return read_texts(set.id(), count, allowance, dataset);
    if (kind == H5T_FLOAT && size == 4) return read_as<float>(set.id(), count, dataset);
    if (kind == H5T_FLOAT) return read_as<double>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 1) return read_as<std::uint8_t>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 2) return read_as<std::int32_t>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 4) return read_as<std::int32_t>(set.id(), count, dataset);
    if (kind == H5T_INTEGER && size == 8) return read_as<std::int64_t>(set.id(), count, dataset);
    throw DataError("{}/{}: has an element type that no record uses", name_, dataset);
  });
}

std::vector<float> Hdf5Reader::read_block(const std::string& dataset,
                                          const std::vector<Index>& start,
                                          const std::vector<Index>& size) const {
  return guarded([&] {
    Allowance allowance(most_bytes_);
    const Hdf5Handle set = open_array(file_.id(), dataset, allowance);
    const Hdf5Handle type(check(H5Dget_type(set.id()), dataset), H5Tclose);
    if (H5Tget_class(type.id()) != H5T_FLOAT)
      throw MachineError("{} does not have floating-point numbers", printable(dataset));
    const std::uint64_t count = places_in(to_sizes(size), dataset);
    allowance.take(count, sizeof(float), dataset);
    std::vector<float> values(count);
    demand_memory();
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
