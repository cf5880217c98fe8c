#include "framework/record/hdf5/detail.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>
#include <string_view>
#include <utility>

namespace softalign {
namespace hdf5 {
namespace {

// Returns whether the last failure was an allocation. The input of zlib has passed its chunk's checksum, so
// zlib fails only for lack of memory, which the library does not report.
bool lacks_memory() {
  bool lacks = false;
  H5Ewalk2(
      H5E_DEFAULT,
      H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* e, void* out) -> herr_t {
        const std::string_view why = e->desc ? e->desc : "";
        if ((e->maj_num == H5E_RESOURCE && e->min_num == H5E_NOSPACE) || why.starts_with("inflate"))
          *static_cast<bool*>(out) = true;
        return 0;
      },
      &lacks);
  return lacks;
}

}  // namespace

std::string reason() {
  std::string text = "unknown reason";
  H5Ewalk2(
      H5E_DEFAULT,
      H5E_WALK_UPWARD,
      [](unsigned depth, const H5E_error2_t* e, void* out) -> herr_t {
        std::string& first = *static_cast<std::string*>(out);
        const std::string why = e->desc ? e->desc : e->func_name;
        if (depth == 0 || (system_error(first) == 0 && system_error(why) != 0)) first = why;
        return 0;
      },
      &text);
  return text;
}

bool is_the_machines_fault() { return lacks_memory() || system_error(reason()) != 0; }

void fail(const std::string& what) {
  const int code = errno;
  if (lacks_memory()) throw std::bad_alloc();
  std::string why = reason();
  // The library does not report the system's reason for this call.
  if (why.find("stat info") != why.npos) why += fmt::format(" (errno = {})", code);
  throw MachineError("HDF5: {}: {}", what, why);
}

int system_error(const std::string& reason) {
  constexpr std::string_view kCode = "errno = ";
  const std::size_t at = reason.find(kCode);
  int code = 0;
  if (at != std::string::npos)
    std::from_chars(reason.data() + at + kCode.size(), reason.data() + reason.size(), code);
  return code;
}

void demand_memory() {
  constexpr std::size_t kReserve = 16 << 20;  // metadata, some chunks and their decompression
  void* const reserve = mmap(nullptr,
                             kReserve,
                             PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1,
                             0);
  if (reserve == MAP_FAILED) throw std::bad_alloc();
  munmap(reserve, kReserve);
}

void Allowance::take(std::uint64_t count, std::size_t size, const std::string& what) {
  if (count > left_ / std::max<std::size_t>(size, 1))
    throw MachineError("{} has {} values, more than its file can hold", printable(what), count);
  left_ -= count * size;
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Hdf5Handle property_list(hid_t kind) { return {check(H5Pcreate(kind), "property list"), H5Pclose}; }

Hdf5Handle space(const std::vector<Index>& shape) {
  const std::vector<hsize_t> size(shape.begin(), shape.end());
  if (shape.empty()) return {check(H5Screate(H5S_SCALAR), "dataspace"), H5Sclose};
  return {check(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), "dataspace"),
          H5Sclose};
}

Hdf5Handle string_type(std::size_t size) {
  Hdf5Handle type(check(H5Tcopy(H5T_C_S1), "string type"), H5Tclose);
  check(H5Tset_size(type.id(), size), "string type");
  check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "string type");
  if (size != H5T_VARIABLE) check(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "string type");
  return type;
}

// Returns the number of hard links to an object. Since HDF5 1.12 H5O_info_t belongs to another version of the function.
unsigned links_to(hid_t object, const std::string& name) {
  H5O_info_t info{};
#if H5_VERSION_GE(1, 12, 0)
  check(H5Oget_info3(object, &info, H5O_INFO_BASIC), name);
#else
  check(H5Oget_info2(object, &info, H5O_INFO_BASIC), name);
#endif
  return info.rc;
}

// Records have one hard link to each object: other links could lead out of the file, or in circles.
Hdf5Handle open_object(hid_t file, const std::string& path) {
  const std::string name = "/" + path;
  if (!exists_in(file, path)) throw MachineError("{} is missing", printable(path));
  Hdf5Handle object(check(H5Oopen(file, name.c_str(), H5P_DEFAULT), "open " + name), H5Oclose);
  if (links_to(object.id(), name) > 1)
    throw MachineError("several links lead to {}", printable(name));
  return object;
}

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

Hdf5Handle open_dataset(hid_t file, const std::string& path) {
  Hdf5Handle object = open_object(file, path);
  if (H5Iget_type(object.id()) != H5I_DATASET)
    throw MachineError("{} is not a dataset", printable(path));
  return object;
}

bool exists_in(hid_t file, const std::string& path) {
  // Each lookup traverses all groups of a path.
  constexpr std::ptrdiff_t kDeepest = 16;
  if (std::ranges::count(path, '/') > kDeepest)
    throw MachineError("its groups are nested deeper than in a record");
  for (std::size_t end = path.find('/'); !path.empty(); end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (answer(H5Lexists(file, part.c_str(), H5P_DEFAULT), part) <= 0) return false;
    H5L_info_t link{};
    check(H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT), part);
    if (link.type != H5L_TYPE_HARD)
      throw MachineError("{} is a link to another object", printable(part));
    if (end == std::string::npos) break;
  }
  return true;
}

std::vector<hsize_t> to_sizes(const std::vector<Index>& v) { return {v.begin(), v.end()}; }

Block select(hid_t dataset, const std::vector<Index>& start, const std::vector<Index>& size) {
  Block block{{check(H5Dget_space(dataset), "block"), H5Sclose}, space(size)};
  const auto from = to_sizes(start), extent = to_sizes(size);
  check(H5Sselect_hyperslab(
            block.file.id(), H5S_SELECT_SET, from.data(), nullptr, extent.data(), nullptr),
        "block");
  return block;
}

}  // namespace hdf5

Hdf5Handle::~Hdf5Handle() {
  if (close_ && id_ >= 0) close_(id_);
}

Hdf5Handle::Hdf5Handle(Hdf5Handle&& other) noexcept
    : id_(std::exchange(other.id_, -1)), close_(other.close_) {}

Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(close_, other.close_);
  return *this;
}

std::string hdf5_version() {
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

}  // namespace softalign
