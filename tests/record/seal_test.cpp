#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "framework/record/hdf5/hdf5.hpp"
#include "tests/record/support.hpp"

namespace softalign {
namespace {

using namespace test;

std::string small_image() {
  Hdf5Writer file;
  file.dataset("a/x", {{"x", 3}}, std::vector<double>{1, 2, 3});
  file.attributes("", {{"format", "softalign-run"}, {"text", "señal"}});
  return file.image();
}

std::string read_fault(const Scratch& scratch) {
  return message_of<DataError>([&] { Hdf5Reader reader(scratch / "run.h5"); });
}

BOOST_AUTO_TEST_SUITE(seal)

BOOST_AUTO_TEST_CASE(any_changed_byte_breaks_a_seal_and_files_without_one_pass) {
  const Scratch scratch;
  const std::string bytes = sealed("what was written");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    write_file(scratch / "f", changed);
    const bool mark = i >= 16 && i < 24;  // the mark is damaged: no seal is found
    BOOST_TEST((seal_of(scratch / "f") == (mark ? Seal::absent : Seal::broken)), "byte " << i);
  }
  for (const std::string& whole : {bytes, sealed("")}) {
    write_file(scratch / "f", whole);
    BOOST_TEST((seal_of(scratch / "f") == Seal::whole));
  }
  for (const char* bare : {"never sealed", ""}) {
    write_file(scratch / "f", bare);
    BOOST_TEST((seal_of(scratch / "f") == Seal::absent));
  }
  BOOST_CHECK_THROW(seal_of(scratch / "absent"), DataError);
}

BOOST_AUTO_TEST_CASE(bytes_behind_the_end_that_are_no_whole_seal_are_a_truncated_file) {
  const Scratch scratch;
  const std::string image = small_image();
  constexpr std::size_t kSeal = 20;
  for (std::size_t off = 1; off < kSeal + 20; ++off) {
    write_file(scratch / "run.h5", image.substr(0, image.size() - off));
    if (off == kSeal)
      Hdf5Reader(scratch / "run.h5");  // exactly HDF5's bytes, as other programs write them
    else
      BOOST_TEST(contains(read_fault(scratch), "run.h5: damaged: "));
  }
  std::string changed = image;
  changed[image.size() - kSeal] = 'X';
  write_file(scratch / "run.h5", changed);
  BOOST_CHECK_THROW(Hdf5Reader(scratch / "run.h5"), DataError);
}

BOOST_AUTO_TEST_CASE(a_damaged_record_is_named_with_its_remedy_before_hdf5_reads_it) {
  const Scratch scratch;
  const std::string image = small_image();
  write_file(scratch / "run.h5", image);
  BOOST_TEST(size_of(Hdf5Reader(scratch / "run.h5").read("a/x")) == 3);
  for (std::size_t i = 0; i + 20 < image.size(); i += 97) {
    std::string changed = image;
    changed[i] = static_cast<char>(changed[i] ^ 0x01);
    write_file(scratch / "run.h5", changed);
    BOOST_TEST(read_fault(scratch).starts_with((scratch / "run.h5").string() + ": damaged: "));
  }
  write_file(scratch / "journal-001.jrnl", "");
  const std::string remedy = "; `softalign recover " + scratch.path().string() + "`";
  BOOST_TEST(contains(read_fault(scratch), remedy));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace softalign
