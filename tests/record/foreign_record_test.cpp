// Files that HDF5 can read but no run writes: links to other files, values stored elsewhere, arrays larger
// than their file.
#include <hdf5.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "framework/base/error.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "framework/record/published/compare.hpp"
#include "tests/record/support.hpp"

using namespace softalign;
using namespace softalign::test;

namespace {

// Writes a small file, applies `change` to it, and returns its path.
std::filesystem::path changed(const Scratch& scratch, const std::function<void(hid_t)>& change) {
  const std::filesystem::path path = scratch / "run.h5";
  Hdf5Writer writer;
  writer.dataset("g/a", {{"n", 2}}, std::vector<double>{1, 2});
  writer.attributes("g", {{"x", 1}});
  FileSystem::real().write_atomically(path, writer.image());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  BOOST_REQUIRE(file >= 0);
  change(file);
  H5Fclose(file);
  return path;
}

void refused(const std::function<void(hid_t)>& change) {
  const Scratch scratch;
  const std::filesystem::path path = changed(scratch, change);
  const std::string fault = message_of<DataError>([&] { numeric_digest(path); });
  BOOST_TEST(fault.starts_with(path.string() + ": damaged: "), fault);
}

void make_dataset(hid_t file, const std::vector<hsize_t>& sizes, hid_t creation) {
  const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  H5Dclose(H5Dcreate2(file, "g/b", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  H5Sclose(space);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(foreign_records)

BOOST_AUTO_TEST_CASE(links_in_a_circle) {
  refused([](hid_t f) { H5Lcreate_hard(f, "/", f, "g/up", H5P_DEFAULT, H5P_DEFAULT); });
  refused([](hid_t f) { H5Lcreate_hard(f, "g", f, "g/g", H5P_DEFAULT, H5P_DEFAULT); });
  refused([](hid_t f) { H5Lcreate_soft("/g", f, "g/g", H5P_DEFAULT, H5P_DEFAULT); });
}

BOOST_AUTO_TEST_CASE(links_out_of_the_file) {
  const Scratch other;
  const std::filesystem::path secret = changed(other, [](hid_t) {});
  refused([&](hid_t f) {
    H5Lcreate_external(secret.c_str(), "/g/a", f, "g/b", H5P_DEFAULT, H5P_DEFAULT);
  });
}

BOOST_AUTO_TEST_CASE(values_in_another_file) {
  const Scratch other;
  const std::string secret = (other / "secret").string();
  FileSystem::real().write_atomically(secret, std::string(16, 's'));
  refused([&](hid_t f) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(creation, secret.c_str(), 0, 16);
    make_dataset(f, {2}, creation);
    H5Pclose(creation);
  });
}

BOOST_AUTO_TEST_CASE(arrays_larger_than_their_file) {
  const auto sparse = [](const std::vector<hsize_t>& sizes) {
    return [sizes](hid_t f) {
      const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
      const std::vector<hsize_t> chunk(sizes.size(), 64);
      H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
      make_dataset(f, sizes, creation);
      H5Pclose(creation);
    };
  };
  refused(sparse({hsize_t{1} << 33}));  // 64 GiB
  refused(sparse({hsize_t{1} << 40, hsize_t{1} << 20}));
}

// A request may be as large as the file claims to be, for example the product of two of its axes.
BOOST_AUTO_TEST_CASE(blocks_and_chunks_larger_than_their_file) {
  const Scratch scratch;
  const std::filesystem::path path = changed(scratch, [](hid_t f) {
    const std::vector<hsize_t> sizes{1 << 16, 1 << 16}, few{2}, unlimited{H5S_UNLIMITED};
    const std::vector<hsize_t> small{64, 64}, huge{1 << 27};
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(creation, 2, small.data());
    make_dataset(f, sizes, creation);
    H5Pset_chunk(creation, 1, huge.data());
    const hid_t space = H5Screate_simple(1, few.data(), unlimited.data());
    H5Dclose(H5Dcreate2(f, "g/c", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Sclose(space);
    H5Pclose(creation);
  });
  const Hdf5Reader file(path);
  const Index all = 1 << 16;
  BOOST_CHECK_THROW(file.read_block("g/b", {0, 0}, {all, all}), DataError);
  BOOST_CHECK_THROW(file.read_block("g/c", {0}, {2}), DataError);
  BOOST_CHECK_THROW(file.read("g/c"), DataError);
  BOOST_TEST(file.read_block("g/b", {0, 0}, {2, 3}).size() == 6U);
}

// As JSON, a thousand attributes of some KiB each, or one too large for older formats, take a thousand times their size.
BOOST_AUTO_TEST_CASE(more_attributes_than_any_record_has) {
  const auto numbers = [](int count, hsize_t size) {
    return [=](hid_t f) {
      const hid_t group = H5Gopen2(f, "g", H5P_DEFAULT),
                  space = H5Screate_simple(1, &size, nullptr);
      for (int i = 0; i < count; ++i) {
        const std::string name = "y" + std::to_string(i);
        H5Aclose(H5Acreate2(group, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT));
      }
      H5Sclose(space);
      H5Gclose(group);
    };
  };
  refused(numbers(2, 60'000));
  refused(numbers(5000, 1));
}

// All elements of an array of texts may refer to the same long text.
BOOST_AUTO_TEST_CASE(a_text_that_is_there_a_thousand_times) {
  constexpr std::size_t kElement = 16, kCount = 4000;  // bytes per reference; number of texts
  const Scratch scratch;
  const std::filesystem::path path = scratch / "run.h5";
  std::vector<std::string> texts(kCount);
  texts[0] = std::string(60'000, 'y');
  Hdf5Writer writer;
  writer.dataset("g/a", {{"n", kCount}}, texts);
  std::string bytes = writer.image();
  write_file(path, bytes);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "g/a", H5P_DEFAULT);
  const haddr_t at = H5Dget_offset(set);
  H5Dclose(set);
  H5Fclose(file);
  for (std::size_t i = 1; i < kCount; ++i)
    bytes.replace(at + i * kElement, kElement, bytes, at, kElement);
  write_file(path, bytes.substr(0, bytes.rfind("SOFTSEAL")));
  BOOST_CHECK_THROW(Hdf5Reader(path).read("g/a"), DataError);
}

// HDF5 follows the attribute DIMENSION_LIST whatever its type is.
BOOST_AUTO_TEST_CASE(axes_that_are_no_list_of_references) {
  const auto list_of = [](hid_t type, const std::vector<hsize_t>& sizes) {
    return [type, sizes](hid_t f) {
      const hid_t set = H5Dopen2(f, "g/a", H5P_DEFAULT);
      H5Adelete(set, "DIMENSION_LIST");
      const hid_t space = H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
      H5Aclose(H5Acreate2(set, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT));
      H5Sclose(space);
      H5Dclose(set);
    };
  };
  const hid_t texts = H5Tcopy(H5T_C_S1), numbers = H5Tvlen_create(H5T_NATIVE_DOUBLE),
              references = H5Tvlen_create(H5T_STD_REF_OBJ);
  H5Tset_size(texts, H5T_VARIABLE);
  refused(list_of(H5T_NATIVE_DOUBLE, {2, 2}));
  refused(list_of(H5T_NATIVE_INT64, {1}));
  refused(list_of(texts, {1}));
  refused(list_of(numbers, {1}));
  refused(list_of(references, {2}));
  for (const hid_t type : {texts, numbers, references}) H5Tclose(type);
}

BOOST_AUTO_TEST_CASE(attributes_without_a_value) {
  for (const H5S_class_t kind : {H5S_NULL, H5S_SIMPLE})
    refused([&](hid_t f) {
      const hsize_t none = 0;
      const hid_t space = kind == H5S_NULL ? H5Screate(kind) : H5Screate_simple(1, &none, nullptr);
      const hid_t group = H5Gopen2(f, "g", H5P_DEFAULT);
      H5Aclose(H5Acreate2(group, "y", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT));
      H5Gclose(group);
      H5Sclose(space);
    });
}

BOOST_AUTO_TEST_CASE(texts_and_groups_where_others_belong) {
  const Scratch scratch;
  const std::filesystem::path path = changed(scratch, [](hid_t f) {
    const hsize_t size = 1;
    const hid_t space = H5Screate_simple(1, &size, nullptr), text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 5);
    H5Dclose(H5Dcreate2(f, "g/t", text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Tclose(text);
    H5Sclose(space);
  });
  const Hdf5Reader file(path);
  BOOST_CHECK_THROW(file.read("g/t"), DataError);
  BOOST_CHECK_THROW(file.read_block("g/t", {0}, {1}), DataError);
  BOOST_CHECK_THROW(file.children("g/a"), DataError);
}

// HDF5 does not close the objects that it opens of a scale whose CLASS is not a text. If the file is then
// replaced while it is open, HDF5 reads the new bytes with cached metadata of the old ones.
BOOST_AUTO_TEST_CASE(nothing_of_a_file_stays_open) {
  const Scratch scratch;
  const std::filesystem::path path = changed(scratch, [](hid_t f) {
    const hid_t set = H5Dopen2(f, "g/a", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    H5Aclose(H5Acreate2(set, "CLASS", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Dclose(set);
  });
  {
    const Hdf5Reader another(path);
    Hdf5Reader(path).dims("g/a");
    BOOST_TEST(std::get<std::vector<double>>(another.read("g/a")).size() == 2U);
  }
  BOOST_TEST(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE | H5F_OBJ_DATASET | H5F_OBJ_ATTR) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
