#include <algorithm>
#include <atomic>
#include <limits>
#include <nlohmann/json.hpp>

#include "framework/base/types.hpp"
#include "framework/record/hdf5/detail.hpp"
#include "framework/record/hdf5/hdf5.hpp"

namespace softalign {
using namespace hdf5;
namespace {

constexpr std::size_t kChunkBytes = 1 << 20;
// Smaller arrays are stored as they are: the index of a chunk alone takes 2 KiB.
constexpr std::size_t kSmallBytes = 4 << 10;
// Longer text becomes a dataset: the oldest format limits an object's attributes to 64 KiB.
constexpr std::size_t kAttributeBytes = 32 << 10;

std::vector<Index> shape_of(const std::vector<Dimension>& dims) {
  std::vector<Index> shape;
  for (const Dimension& d : dims) shape.push_back(d.size);
  return shape;
}

// Returns chunk sizes: halves the leading axes until chunks are small enough to be read piecewise.
std::vector<hsize_t> chunk_for(const std::vector<Index>& shape, std::size_t element) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  for (hsize_t& axis : chunk) {
    const auto bytes = [&] {
      std::size_t n = element;
      for (hsize_t c : chunk) n *= c;
      return n;
    };
    while (axis > 1 && bytes() > kChunkBytes) axis = (axis + 1) / 2;
  }
  return chunk;
}

Hdf5Handle dataset_creation(const std::vector<hsize_t>& chunk) {
  Hdf5Handle list = property_list(H5P_DATASET_CREATE);
  check(H5Pset_obj_track_times(list.id(), false), "times");  // the same run gives the same bytes
  check(H5Pset_attr_creation_order(list.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
        "creation order");
  if (std::all_of(chunk.begin(), chunk.end(), [](hsize_t n) { return n > 0; }) && !chunk.empty()) {
    check(H5Pset_chunk(list.id(), static_cast<int>(chunk.size()), chunk.data()), "chunks");
    check(H5Pset_shuffle(list.id()), "shuffle");
    check(H5Pset_deflate(list.id(), 4), "gzip");
    check(H5Pset_fletcher32(list.id()), "fletcher32");
  }
  return list;
}

template <class Ids>
void track_order(const Ids& list) {
  const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
  check(H5Pset_link_creation_order(list.id(), order), "creation order");
  check(H5Pset_attr_creation_order(list.id(), order), "creation order");
  check(H5Pset_obj_track_times(list.id(), false), "times");
}

void write_all(hid_t dataset, const Values& values, const std::string& path) {
  std::visit(
      [&](const auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        if constexpr (std::is_same_v<T, std::string>) {
          std::vector<const char*> pointers;
          for (const std::string& s : v) pointers.push_back(s.c_str());
          const Hdf5Handle type = string_type(H5T_VARIABLE);
          check(H5Dwrite(dataset, type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), path);
        } else {
          const hid_t memory = ElementType<T>::memory();
          check(H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, v.data()), path);
        }
      },
      values);
}

}  // namespace

Hdf5Writer::Hdf5Writer() {
  silence();
  const Hdf5Handle access = property_list(H5P_FILE_ACCESS);
  check(H5Pset_fapl_core(access.id(), 1 << 20, false), "file in memory");
  check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST), "file format");
  const Hdf5Handle creation = property_list(H5P_FILE_CREATE);
  track_order(creation);
  static std::atomic<int> count = 0;  // HDF5 identifies open files by their names, also in memory
  const std::string name = fmt::format("record-{}", ++count);
  file_ = {check(H5Fcreate(name.c_str(), H5F_ACC_EXCL, creation.id(), access.id()), name),
           H5Fclose};
}

void Hdf5Writer::group(const std::string& path) {
  if (path.empty() || exists_in(file_.id(), path)) return;
  group(parent(path));
  const Hdf5Handle creation = property_list(H5P_GROUP_CREATE);
  track_order(creation);
  const Hdf5Handle made(
      check(H5Gcreate2(file_.id(), path.c_str(), H5P_DEFAULT, creation.id(), H5P_DEFAULT), path),
      H5Gclose);
}

void Hdf5Writer::create(const std::string& path,
                        const std::vector<Dimension>& dims,
                        std::int64_t type,
                        std::int64_t creation) {
  if (shapes_.contains(path)) throw BugError("dataset '{}' is written twice", path);
  group(parent(path));
  const Hdf5Handle extent = space(shape_of(dims));
  const Hdf5Handle made(
      check(H5Dcreate2(
                file_.id(), path.c_str(), type, extent.id(), H5P_DEFAULT, creation, H5P_DEFAULT),
            path),
      H5Dclose);
  shapes_[path] = shape_of(dims);
}

void Hdf5Writer::attach_scales(const std::string& path, const std::vector<Dimension>& dims) {
  const std::string group = parent(path);
  const Hdf5Handle set = open_object(file_.id(), path);
  if (dims.size() == 1 && join(group, dims[0].name) == path) {
    check(H5DSset_scale(set.id(), dims[0].name.c_str()), path);
    return;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::string scale = join(group, dims[i].name);
    if (scale == path) throw BugError("dataset '{}' has the name of one of its dimensions", path);
    if (!shapes_.contains(scale)) {
      std::vector<std::int32_t> count(usize(dims[i].size));
      for (std::size_t k = 0; k < count.size(); ++k) count[k] = static_cast<std::int32_t>(k);
      dataset(scale, {dims[i]}, count);
    }
    if (shapes_.at(scale) != std::vector{dims[i].size}) {
      throw BugError("dimension '{}' of '{}' has size {}, but another size elsewhere in the group",
                     dims[i].name,
                     path,
                     dims[i].size);
    }
    const Hdf5Handle axis = open_object(file_.id(), scale);
    check(H5DSattach_scale(set.id(), axis.id(), static_cast<unsigned>(i)), path);
  }
}

void Hdf5Writer::dataset(const std::string& path,
                         const std::vector<Dimension>& dims,
                         const Values& values) {
  if (size_of(dims) != size_of(values)) {
    throw BugError(
        "dataset '{}' has {} values for {} elements", path, size_of(values), size_of(dims));
  }
  const std::vector<hsize_t> chunk = std::visit(
      [&](const auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        const bool whole = std::is_same_v<T, std::string> || v.size() * sizeof(T) <= kSmallBytes;
        return whole ? std::vector<hsize_t>() : chunk_for(shape_of(dims), sizeof(T));
      },
      values);
  write(path, dims, values, dataset_creation(chunk));
}

void Hdf5Writer::write(const std::string& path,
                       const std::vector<Dimension>& dims,
                       const Values& values,
                       const Hdf5Handle& creation) {
  std::visit(
      [&](const auto& v) {
        using T = typename std::decay_t<decltype(v)>::value_type;
        if constexpr (std::is_same_v<T, std::string>)
          create(path, dims, string_type(H5T_VARIABLE).id(), creation.id());
        else
          create(path, dims, ElementType<T>::file(), creation.id());
      },
      values);
  attach_scales(path, dims);
  if (size_of(values) > 0) write_all(open_object(file_.id(), path).id(), values, path);
}

void Hdf5Writer::copy(const Hdf5Reader& from, const std::string& path) {
  if (from.is_group(path)) {
    group(path);
    for (const std::string& child : from.children(path)) copy(from, join(path, child));
  } else if (!shapes_.contains(path)) {  // a scale comes with the first array over it
    const std::vector<Dimension> dims = from.dims(path);
    const Values values = from.read(path);
    const Hdf5Handle set = open_dataset(from.file_.id(), path);
    write(path, dims, values, {check(H5Dget_create_plist(set.id()), path), H5Pclose});
  }
  copy_attributes(from, path);
}

void Hdf5Writer::copy_attributes(const Hdf5Reader& from, const std::string& path) {
  hdf5::copy_attributes(open_object(from.file_.id(), path).id(),
                        open_object(file_.id(), path).id());
}

void Hdf5Writer::nan_array(const std::string& path,
                           const std::vector<Dimension>& dims,
                           const std::vector<Index>& chunk) {
  const float fill = std::numeric_limits<float>::quiet_NaN();
  const Hdf5Handle creation = dataset_creation(to_sizes(chunk));
  check(H5Pset_fill_value(creation.id(), H5T_NATIVE_FLOAT, &fill), path);
  create(path, dims, H5T_IEEE_F32LE, creation.id());
  attach_scales(path, dims);
  const Hdf5Handle set = open_object(file_.id(), path);
  write_attribute(set.id(), "_FillValue", fill);
}

void Hdf5Writer::write_block(const std::string& path,
                             const std::vector<Index>& start,
                             const std::vector<Index>& size,
                             const std::vector<float>& values) {
  const Hdf5Handle set = open_object(file_.id(), path);
  const Block block = select(set.id(), start, size);
  check(H5Dwrite(set.id(),
                 H5T_NATIVE_FLOAT,
                 block.memory.id(),
                 block.file.id(),
                 H5P_DEFAULT,
                 values.data()),
        path);
}

void Hdf5Writer::attributes(const std::string& path, const JsonObject& members) {
  group(path);
  for (const auto& [name, value] : members.items()) {
    if (value.is_string() && value.get<std::string>().size() > kAttributeBytes) {
      if (shapes_.contains(path))
        throw BugError("attribute '{}' of '{}' is too long: make it a dataset", name, path);
      dataset(join(path, name), {}, std::vector{value.get<std::string>()});
    } else {
      write_attribute(open_object(file_.id(), path).id(), name, value);
    }
  }
}

std::string Hdf5Writer::image() {
  check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "flush");
  const ssize_t size = H5Fget_file_image(file_.id(), nullptr, 0);
  std::string bytes(usize(check(size, "image")), '\0');
  check(H5Fget_file_image(file_.id(), bytes.data(), bytes.size()), "image");
  return sealed(std::move(bytes));
}

}  // namespace softalign
