#include "framework/base/files.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "framework/base/error.hpp"
#include "tests/scratch.hpp"

using namespace softalign;
using namespace softalign::test;

BOOST_AUTO_TEST_SUITE(regular_files)

BOOST_AUTO_TEST_CASE(what_is_no_file_is_named_and_nobody_waits) {
  const Scratch folder;
  BOOST_REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  folder.write("file", "bytes");
  folder.write("large", std::string(101, 'x'));
  std::filesystem::create_symlink("file", folder / "link");
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const char* name : {"none", "large"})
    BOOST_CHECK_THROW(read_file(folder / name, 100), DataError);
  for (const fs::path& place :  // not regular files: their contents are unknown
       {folder / "loop", folder.path(), folder / "pipe", fs::path("/dev/null")})
    BOOST_CHECK_THROW(read_file(place, 100), MachineError);
  BOOST_TEST(read_file(folder / "link", 5) == "bytes");
}

// A file whose first byte cannot be read: the process's own memory.
BOOST_AUTO_TEST_CASE(a_disk_that_cannot_be_read_is_the_machines_fault) {
  if (!std::filesystem::exists("/proc/self/mem")) return;
  char byte = 0;
  BOOST_CHECK_THROW(RegularFile("/proc/self/mem").read(&byte, 1, 0), MachineError);
}

BOOST_AUTO_TEST_SUITE_END()
