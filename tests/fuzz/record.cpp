// The record of a run, with attributes, datasets, groups and links that no run writes.
//
// An input is u8, the way of reading, and a list of changes: u8 object, u8 change, and its arguments.
#include <hdf5.h>

#include <nlohmann/json.hpp>
#include <set>

#include "framework/base/types.hpp"
#include "framework/train/experiment.hpp"
#include "framework/train/observer.hpp"
#include "tests/fuzz/read_record.hpp"

using namespace softalign;
using namespace softalign::fuzz;

namespace {

using Names = std::vector<std::string>;

struct TestRun {
  std::string image;  // of its record, without the seal
  Names objects;      // paths of groups and datasets
  Names attributes;   // names of attributes
};

void collect(const Hdf5Reader& file,
             const std::string& path,
             TestRun& run,
             std::set<std::string>& names) {
  const JsonObject attributes = file.attributes(path);
  for (const auto& [name, value] : attributes.items()) names.insert(name);
  if (!path.empty()) run.objects.push_back(path);
  if (!path.empty() && !file.is_group(path)) return;
  for (const std::string& child : file.children(path))
    collect(file, path.empty() ? child : path + "/" + child, run, names);
}

TestRun make_run() {
  Observer silent;
  ExperimentOptions options;
  options.results = folder() / "results";
  options.threads = 1;
  const auto spec = load_spec<Spec>(base_spec(),
                                    {"task.examples={train: 6, dev: 2, test: 3}",
                                     "train.epochs=1",
                                     "diagnostics={cost: {}, gradient_flow: {}}"});
  const auto outcome = run_experiment(spec, options, silent);
  TestRun run;
  const std::filesystem::path file = RunFolder{outcome.folder}.record();
  run.image = read_file(file);
  run.image.resize(run.image.size() - 20);  // the seal
  std::set<std::string> names;
  collect(Hdf5Reader(file), "", run, names);
  run.attributes.assign(names.begin(), names.end());
  for (const char* name :
       {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"})  // the library's own
    run.attributes.emplace_back(name);
  std::filesystem::remove_all(options.results);
  return run;
}

// HDF5 refuses, for example an existing name: the change is skipped.
using Closer = herr_t (*)(hid_t);
class Id {
 public:
  Id(hid_t id, Closer close) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Closer close_;
};

constexpr hssize_t kMostPlaces = 1 << 12;
constexpr std::size_t kTypes = 14;  // choices of type_of

// Types of records, and others.
hid_t type_of(std::size_t choice, std::size_t size) {
  switch (choice) {
    case 0:
      return H5Tcopy(H5T_IEEE_F32LE);
    case 1:
      return H5Tcopy(H5T_IEEE_F64LE);
    case 2:
      return H5Tcopy(H5T_STD_I32LE);
    case 3:
      return H5Tcopy(H5T_STD_I64LE);
    case 4:
      return H5Tcopy(H5T_STD_U8LE);
    case 5:
      return H5Tcopy(H5T_STD_I16BE);
    case 6: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, 1 + size % 32);
      return text;
    }
    case 7: {
      const hid_t text = H5Tcopy(H5T_C_S1);
      H5Tset_size(text, H5T_VARIABLE);
      return text;
    }
    case 8:
      return H5Tvlen_create(H5T_STD_I32LE);
    case 9:
      return H5Tcopy(H5T_STD_REF_OBJ);
    case 10:
      return H5Tcreate(H5T_OPAQUE, 1 + size % 16);
    case 11: {
      const hid_t pair = H5Tcreate(H5T_COMPOUND, 8);
      H5Tinsert(pair, "a", 0, H5T_STD_I32LE);
      H5Tinsert(pair, "b", 4, H5T_IEEE_F32LE);
      return pair;
    }
    case 12:
      return H5Tvlen_create(H5T_STD_REF_OBJ);
    default: {
      const hsize_t three = 3;
      return H5Tarray_create2(H5T_STD_I32LE, 1, &three);
    }
  }
}

// A scalar, a null space, or up to four axes.
hid_t space_of(Input& in, bool large) {
  const std::size_t rank = in.below(6);
  if (rank == 0) return H5Screate(H5S_SCALAR);
  if (rank == 5) return H5Screate(H5S_NULL);
  std::vector<hsize_t> sizes(rank);
  for (hsize_t& size : sizes) {
    const auto n = in.number<std::uint8_t>();
    size = n < 250 ? n % 24 : large ? hsize_t{1} << (10 * (n - 249)) : n;
  }
  return H5Screate_simple(static_cast<int>(rank), sizes.data(), nullptr);
}

// Values of variable-length texts are addresses, which must be valid.
std::vector<char> values_for(Input& in, hid_t type, hid_t space, std::string& text) {
  const auto count = usize(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
  std::vector<char> values(std::min<std::size_t>(count * H5Tget_size(type), 1 << 16));
  text = in.text();
  if (H5Tis_variable_str(type) > 0) {
    for (std::size_t i = 0; i + sizeof(char*) <= values.size(); i += sizeof(char*)) {
      const char* const at = text.c_str();
      std::memcpy(values.data() + i, &at, sizeof at);
    }
  } else if (H5Tget_class(type) != H5T_VLEN && H5Tget_class(type) != H5T_REFERENCE) {
    for (std::size_t i = 0; i < values.size() && !text.empty(); ++i)
      values[i] = text[i % text.size()];
  }
  return values;
}

const std::string& one_of(Input& in, const Names& names) {
  return names[in.number<std::uint16_t>() % names.size()];
}

void set_attribute(Input& in, hid_t file, const std::string& path, const TestRun& run) {
  const std::string name = one_of(in, run.attributes);
  const Id object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
  if (object < 0) return;
  const Id type(type_of(in.below(kTypes), in.below(256)), H5Tclose),
      space(space_of(in, false), H5Sclose);
  if (H5Sget_simple_extent_npoints(space) > kMostPlaces) return;  // the library allocates all
  H5Adelete(object, name.c_str());
  const Id made(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  std::string text;
  const std::vector<char> values = values_for(in, type, space, text);
  const auto count = H5Sget_simple_extent_npoints(space);
  if (made >= 0 && count >= 0 && values.size() == usize(count) * H5Tget_size(type) &&
      !values.empty())
    H5Awrite(made, type, values.data());
}

void set_dataset(Input& in, hid_t file, const std::string& path) {
  const Id type(type_of(in.below(kTypes), in.below(256)), H5Tclose),
      space(space_of(in, true), H5Sclose);
  const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const std::size_t layout = in.below(4);
  if (layout == 1) {  // unwritten elements take no space
    const std::vector<hsize_t> chunk(4, 64);
    H5Pset_chunk(creation, std::max(1, H5Sget_simple_extent_ndims(space)), chunk.data());
    H5Pset_deflate(creation, 1);
  } else if (layout == 2) {
    H5Pset_external(creation, (folder() / "other").c_str(), 0, H5F_UNLIMITED);
  }
  H5Ldelete(file, path.c_str(), H5P_DEFAULT);
  const Id made(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                H5Dclose);
  std::string text;
  const std::vector<char> values = values_for(in, type, space, text);
  const auto count = H5Sget_simple_extent_npoints(space);
  if (made >= 0 && layout != 2 && count > 0 && values.size() == usize(count) * H5Tget_size(type))
    H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void set_link(Input& in, hid_t file, const std::string& path, const TestRun& run) {
  const std::size_t kind = in.below(4);
  const std::string to = in.below(2) == 0 ? "/" : one_of(in, run.objects);
  const std::string name = in.below(2) == 0 ? path : path + "/child";
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  if (kind == 0) H5Lcreate_hard(file, to.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 1) H5Lcreate_soft(to.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 2)
    H5Lcreate_external(
        (folder() / "run.h5").c_str(), to.c_str(), file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
  if (kind == 3)
    Id(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
}

std::string changed(Input& in, const TestRun& run) {
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 16, false);
  std::string image = run.image;
  H5Pset_file_image(access, image.data(), image.size());
  const Id file(H5Fopen("changed", H5F_ACC_RDWR, access), H5Fclose);
  require(file >= 0, "HDF5 does not open the record of a run");
  for (int n = 0; n < 8 && !in.empty(); ++n) {
    const std::size_t what = in.below(4);
    const std::string path = in.below(8) == 0 ? "/" : one_of(in, run.objects);
    if (what == 0) set_attribute(in, file, path, run);
    if (what == 1 && path != "/") set_dataset(in, file, path);
    if (what == 2 && path != "/") set_link(in, file, path, run);
    if (what == 3 && path != "/") H5Ldelete(file, path.c_str(), H5P_DEFAULT);
  }
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  image.resize(usize(std::max<ssize_t>(0, H5Fget_file_image(file, nullptr, 0))));
  H5Fget_file_image(file, image.data(), image.size());
  return sealed(std::move(image));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TestRun run = make_run();
  Input in(data, size);
  const std::size_t reading = in.below(kReadings);
  read_record(file("run.h5", changed(in, run)), reading);
  require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE | H5F_OBJ_DATASET | H5F_OBJ_ATTR) == 0,
          "something of the record stays open");
  H5garbage_collect();
  return 0;
}
